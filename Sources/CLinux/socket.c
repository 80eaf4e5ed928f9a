#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int martlet_accept4(int listener, void *address, uint32_t *length) {
    int fd = accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int martlet_peer_credentials(int fd, uid_t *uid, gid_t *gid, pid_t *pid) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -errno;
    *uid = peer.uid;
    *gid = peer.gid;
    *pid = peer.pid;
    return 0;
}

// What headers of before Linux 6.5 lack; the same number on all architectures that Swift knows.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

bool martlet_peer_has_ended(int fd) {
    int process = -1;
    socklen_t length = sizeof process;
    // ENOPROTOOPT: a kernel that cannot say.
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &length) != 0) return errno == ESRCH || errno == EINVAL;
    struct pollfd end = {.fd = process, .events = POLLIN};
    bool has_ended = poll(&end, 1, 0) > 0;
    close(process);
    return has_ended;
}

int martlet_send_datagram(int socket, const void *address, uint32_t length, const void *bytes, size_t count,
                          int descriptor) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof descriptor)];
    } control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof descriptor)}};
    memcpy(CMSG_DATA(&control.head), &descriptor, sizeof descriptor);
    struct iovec text = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_name = (void *)address,
        .msg_namelen = length,
        .msg_iov = &text,
        .msg_iovlen = 1,
        .msg_control = descriptor < 0 ? NULL : &control,
        .msg_controllen = descriptor < 0 ? 0 : sizeof control,
    };
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int64_t martlet_unacknowledged(int fd) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return (int64_t)info.tcpi_unacked + info.tcpi_notsent_bytes;
}

bool martlet_hung_up(int fd) {
    struct pollfd socket = {.fd = fd, .events = POLLRDHUP};
    return poll(&socket, 1, 0) > 0;
}
