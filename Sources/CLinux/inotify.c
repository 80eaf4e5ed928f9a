#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

int martlet_inotify_open(void) {
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int martlet_inotify_add(int inotify, const char *directory) {
    // No IN_MODIFY: a rewrite in place is told once, when the writer closes, and not while the file is half written.
    uint32_t mask = IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                    IN_MOVE_SELF | IN_ONLYDIR;
    int watch = inotify_add_watch(inotify, directory, mask);
    return watch < 0 ? -errno : watch;
}

void martlet_inotify_remove(int inotify, int watch) {
    inotify_rm_watch(inotify, watch);
}

bool martlet_inotify_next(const void *bytes, size_t count, size_t *offset, struct martlet_inotify_event *event) {
    struct inotify_event head;
    if (*offset > count || count - *offset < sizeof head) return false;
    memcpy(&head, (const char *)bytes + *offset, sizeof head);
    *offset += sizeof head + head.len;
    event->watch = head.wd;
    event->watch_ended = (head.mask & IN_IGNORED) != 0;
    event->events_lost = (head.mask & IN_Q_OVERFLOW) != 0;
    return true;
}
