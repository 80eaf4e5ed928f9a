#include <upb/mem/arena.h>

#include "CUpb.h"

// Gives the tables of upb a seed.
void martlet_seed_tables(void);

// The arena of upb within.
upb_Arena *martlet_arena_inside(martlet_arena *arena);
