#include "CUpb.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"

enum { OWN = 16 * 1024 };

struct martlet_arena {
    upb_alloc allocator;  // first: upb hands out a pointer to it
    size_t limit, used;
    bool was_full;
    upb_Arena *arena;
    _Alignas(16) char own[OWN];
};

// The arena gives single blocks back only when it is freed, and then they count no more.
static void *allocate(upb_alloc *allocator, void *old, size_t old_size, size_t size, size_t *actual) {
    martlet_arena *arena = (martlet_arena *)allocator;
    (void)actual;
    if (size == 0) {
        free(old);
        return NULL;
    }
    size_t more = size > old_size ? size - old_size : 0;
    if (more > arena->limit - arena->used) {
        arena->was_full = true;
        return NULL;
    }
    void *new = realloc(old, size);
    if (new) arena->used += more;
    return new;
}

static void begin(martlet_arena *arena) {
    arena->used = 0;
    arena->was_full = false;
    arena->arena = upb_Arena_Init(arena->own, OWN, &arena->allocator);
}

martlet_arena *martlet_arena_new(size_t limit) {
    martlet_arena *arena = malloc(sizeof *arena);
    if (!arena) return NULL;
    arena->allocator.func = allocate;
    arena->limit = limit;
    begin(arena);
    return arena;
}

void martlet_arena_empty(martlet_arena *arena) {
    upb_Arena_Free(arena->arena);
    begin(arena);
}

void martlet_arena_set_limit(martlet_arena *arena, size_t limit) { arena->limit = limit; }

void martlet_arena_free(martlet_arena *arena) {
    upb_Arena_Free(arena->arena);
    free(arena);
}

bool martlet_arena_was_full(const martlet_arena *arena) { return arena->was_full; }

const char *martlet_arena_copy(martlet_arena *arena, const void *bytes, size_t count) {
    char *copy = upb_Arena_Malloc(arena->arena, count ? count : 1);
    if (copy && count) memcpy(copy, bytes, count);
    return copy;
}

upb_Arena *martlet_arena_inside(martlet_arena *arena) { return arena->arena; }
