#include <upb/mem/arena.h>

#include "CUpb.h"

// The arena of upb within.
upb_Arena *martlet_arena_inside(martlet_arena *arena);
