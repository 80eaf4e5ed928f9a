#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

int martlet_eventfd(void) {
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void martlet_malloc_trim(void) {
    malloc_trim(0);
}

void martlet_set_thread_name(const char *name) {
    // A longer name is refused, not cut.
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = '\0';
    pthread_setname_np(pthread_self(), kept);
}

const char *martlet_error_text(int error) {
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}
