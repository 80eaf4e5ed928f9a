#define _GNU_SOURCE
#include "CLinux.h"

#include <limits.h>
#include <sys/resource.h>

// What the process was started with, if that has been raised.
static struct rlimit inherited;
static bool raised = false;

long martlet_descriptor_limit(bool hard) {
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) < 0) return 1024;
    rlim_t limit = hard ? now.rlim_max : now.rlim_cur;
    return limit > (rlim_t)INT_MAX ? INT_MAX : (long)limit;
}

void martlet_raise_descriptor_limit(void) {
    if (raised || getrlimit(RLIMIT_NOFILE, &inherited) < 0) return;
    struct rlimit all = {inherited.rlim_max, inherited.rlim_max};
    raised = inherited.rlim_cur < inherited.rlim_max && setrlimit(RLIMIT_NOFILE, &all) == 0;
}

// posix_spawn has no attribute for it, and to lower the limit of this process meanwhile would fail what other threads open.
// So the program has the higher limit for its first microseconds, in which it is still being loaded.
void martlet_restore_descriptor_limit(pid_t pid) {
    if (raised) prlimit(pid, RLIMIT_NOFILE, &inherited, NULL);
}
