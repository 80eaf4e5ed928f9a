#include "CLinux.h"

static int count;
static char **values;

// glibc hands the arguments to every constructor, and those of libraries run first. Swift's CommandLine searches the stack
// below `environ` instead, and finds nothing once somebody's constructor has called setenv.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
    count = argc;
    values = argv;
}

int martlet_argument_count(void) {
    return count;
}

const char *martlet_argument(int index) {
    return values[index];
}

char **martlet_first_environment(void) {
    return values + count + 1;
}
