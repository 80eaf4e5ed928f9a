// What no proxy can cost less than: `copier PORT UPSTREAM` listens on a port of loopback and copies bytes between each caller
// and a connection of its own to the upstream's port. It looks at none of them: one wait, read and write for whatever comes.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 72 * 1024, READY = 256 };

// One end of a connection, and what it has not taken yet of what came from the other.
struct end {
    int socket;
    struct end *other;
    char *rest;
    size_t start, count;
    int closed;
};

static int events;
static char buffer[BUFFER];

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static struct sockaddr_in loopback(const char *port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void watch(struct end *end, uint32_t what, int how) {
    struct epoll_event event = {.events = what, .data.ptr = end};
    if (epoll_ctl(events, how, end->socket, &event)) give_up("epoll_ctl");
}

static struct end *make_end(int socket) {
    int one = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct end *end = calloc(1, sizeof *end);
    if (!end) give_up("calloc");
    end->socket = socket;
    return end;
}

// Nothing is read while the other end has not taken what was read before.
static void adjust(struct end *end) {
    watch(end, (end->other->count ? 0 : EPOLLIN) | (end->count ? EPOLLOUT : 0), EPOLL_CTL_MOD);
}

static void pair(int caller, const struct sockaddr_in *upstream) {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || connect(server, (const struct sockaddr *)upstream, sizeof *upstream)) give_up("connect");
    struct end *one = make_end(caller), *other = make_end(server);
    one->other = other;
    other->other = one;
    watch(one, EPOLLIN, EPOLL_CTL_ADD);
    watch(other, EPOLLIN, EPOLL_CTL_ADD);
}

// What the other end still sends is lost, which here is never a whole response that anybody waits for. The memory of both stays:
// events of either may still follow in this turn, and a run has few connections.
static void close_both(struct end *end) {
    for (int i = 0; i < 2; i++, end = end->other) {
        if (!end->closed) close(end->socket);
        end->closed = 1;
    }
}

// Sends as much as the socket takes; returns how much, or -1 if it takes nothing any more.
static ssize_t put(struct end *end, const char *bytes, size_t count) {
    ssize_t sent = send(end->socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 && errno == EAGAIN ? 0 : sent;
}

static void readable(struct end *end) {
    ssize_t count = recv(end->socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    struct end *other = end->other;
    ssize_t sent = count > 0 ? put(other, buffer, (size_t)count) : -1;
    if (sent < 0) return close_both(end);
    if (sent == count) return;
    if (!other->rest && !(other->rest = malloc(BUFFER))) give_up("malloc");
    other->start = 0;
    other->count = (size_t)(count - sent);
    memcpy(other->rest, buffer + sent, other->count);
    adjust(end);
    adjust(other);
}

static void writable(struct end *end) {
    ssize_t sent = put(end, end->rest + end->start, end->count);
    if (sent < 0) return close_both(end);
    end->start += (size_t)sent;
    end->count -= (size_t)sent;
    if (end->count) return;
    adjust(end);
    adjust(end->other);
}

int main(int count, char **words) {
    if (count != 3) return fprintf(stderr, "copier PORT UPSTREAM\n"), 2;
    struct sockaddr_in here = loopback(words[1]), upstream = loopback(words[2]);
    int one = 1;
    struct end listener = {.socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    setsockopt(listener.socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener.socket, (struct sockaddr *)&here, sizeof here) || listen(listener.socket, 4096)) give_up("listen");
    events = epoll_create1(0);
    watch(&listener, EPOLLIN, EPOLL_CTL_ADD);
    for (;;) {
        struct epoll_event ready[READY];
        int found = epoll_wait(events, ready, READY, -1);
        for (int i = 0; i < found; i++) {
            struct end *end = ready[i].data.ptr;
            int caller;
            if (end == &listener) {
                while ((caller = accept(listener.socket, NULL, NULL)) >= 0) pair(caller, &upstream);
                continue;
            }
            if (!end->closed && ready[i].events & (EPOLLERR | EPOLLHUP)) close_both(end);
            if (!end->closed && ready[i].events & EPOLLOUT) writable(end);
            if (!end->closed && ready[i].events & EPOLLIN) readable(end);
        }
    }
}
