#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

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

// The kernel enlarges the table of descriptors when it is full. In a process with threads, whoever opens the next descriptor
// then sleeps through a grace period of RCU: 4 to 20 ms, for a worker with all its calls.
void martlet_reserve_descriptors(long count) {
    long limit = martlet_descriptor_limit(false);
    int last = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, (int)(count < limit ? count : limit) - 1);
    if (last >= 0) close(last);
}

void martlet_restore_descriptor_limit(void) {
    if (raised) setrlimit(RLIMIT_NOFILE, &inherited);
}

int martlet_open_unnamed(const char *directory) {
    int file = open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    // Not every file system has files without names (NFS, older overlayfs): one is made with a name, which it loses at once.
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file >= 0 ? file : -errno;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/.martlet-XXXXXX", directory);
    if (length >= (int)sizeof path) return -ENAMETOOLONG;
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0) return -errno;
    unlink(path);
    return file;
}

// A standard stream that is closed would become the first descriptor that is opened, and get what is written for people.
__attribute__((constructor)) static void open_standard_streams(void) {
    for (int stream = 0; stream <= 2; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) != stream) return;
    }
}
