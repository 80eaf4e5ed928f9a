/* Loaded before the C library: changes the environment before the program starts, as some agents do. */
#include <stdlib.h>

__attribute__((constructor)) static void change(void)
{
    setenv("ADDED_BY_A_LIBRARY", "1", 1);
}
