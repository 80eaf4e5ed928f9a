#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_DESCRIPTOR = 3, NAMES_ROOM = 32 * 1024, MOST = MARTLET_MOST_HANDED_OVER + 1 };

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(MOST * sizeof(int))];
};

static void set_number(const char *name, long value) {
    char text[24];
    snprintf(text, sizeof text, "%ld", value);
    setenv(name, text, 1);
}

// Moves the descriptors to where sd_listen_fds(3) seeks them, the last one behind the others.
static bool arrange(int *descriptors, int count) {
    for (int i = 0; i < count; i++) {
        descriptors[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR + count);
        if (descriptors[i] < 0) return false;
    }
    for (int i = 0; i < count; i++) {
        if (dup2(descriptors[i], FIRST_DESCRIPTOR + i) < 0) return false;
    }
    return true;
}

static _Noreturn void become_new(const char *path, char *const argv[], const char *names, int *descriptors, int count) {
    if (!arrange(descriptors, count)) _exit(1);
    set_number("LISTEN_PID", getpid());
    set_number("LISTEN_FDS", count - 1);
    setenv("LISTEN_FDNAMES", names, 1);
    set_number("MARTLET_UPGRADE", FIRST_DESCRIPTOR + count - 1);
    if (getenv("WATCHDOG_USEC")) set_number("WATCHDOG_PID", getpid());
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(path, argv);
    dprintf(STDERR_FILENO, "martlet: cannot execute %s: %s\n", path, martlet_error_text(errno));
    _exit(127);
}

// Starts the program as nobody's child, so that whoever waits for orphans waits for it: a service manager, for one.
static pid_t launch(const char *path, char *const argv[], const char *names, int *descriptors, int count) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return -errno;
    pid_t middle = fork();
    if (middle == 0) {
        pid_t program = fork();
        if (program == 0) become_new(path, argv, names, descriptors, count);
        if (program < 0) program = -errno;
        _exit(write(report[1], &program, sizeof program) != sizeof program);
    }
    pid_t program = middle < 0 ? -errno : -ECHILD;
    close(report[1]);
    if (middle > 0) {
        while (read(report[0], &program, sizeof program) < 0 && errno == EINTR) {}
        waitpid(middle, NULL, 0);
    }
    close(report[0]);
    return program;
}

// Serves one process until that ends.
static _Noreturn void serve(int requests, const char *path, char *const argv[]) {
    static char names[NAMES_ROOM + 1];
    pid_t program = 0;
    while (true) {
        union control control;
        struct iovec text = {.iov_base = names, .iov_len = NAMES_ROOM};
        struct msghdr message = {
            .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control,
        };
        ssize_t length = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) _exit(0);
        names[length] = '\0';
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        if (!head || head->cmsg_type != SCM_RIGHTS) {
            if (program > 0) kill(program, SIGKILL);
            continue;
        }
        int descriptors[MOST];
        int count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(head), (size_t)count * sizeof(int));
        // The names end with a line feed, as a message must not be empty.
        names[length - 1] = '\0';
        int copies[MOST];
        memcpy(copies, descriptors, sizeof copies);
        program = launch(path, argv, names, copies, count);
        for (int i = 0; i < count; i++) close(descriptors[i]);
        send(requests, &program, sizeof program, MSG_NOSIGNAL);
    }
}

static const char *program_path(void) {
    const char *named = martlet_argument(0);
    if (strchr(named, '/')) return named;
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? path : NULL;
}

int martlet_launcher_start(void) {
    const char *path = program_path();
    int ends[2];
    if (!path || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return path ? -errno : -ENOENT;
    pid_t parent = getpid();
    int count = martlet_argument_count();
    char **argv = calloc((size_t)count + 1, sizeof *argv);
    for (int i = 0; argv && i < count; i++) argv[i] = (char *)martlet_argument(i);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = argv ? fork() : -1;
    int error = child < 0 ? errno : 0;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(0);
        if (dup2(ends[1], FIRST_DESCRIPTOR) < 0) _exit(1);
        fcntl(FIRST_DESCRIPTOR, F_SETFD, FD_CLOEXEC);
        // The sockets of a socket unit, for example, would stay open here.
        close_range(FIRST_DESCRIPTOR + 1, ~0U, 0);
        serve(FIRST_DESCRIPTOR, path, argv);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(argv);
    close(ends[1]);
    if (error) close(ends[0]);
    return error ? -error : ends[0];
}

void martlet_launcher_kill(int launcher) {
    send(launcher, "\n", 1, MSG_NOSIGNAL);
}

pid_t martlet_launch(int launcher, const char *names, const int *descriptors, size_t count) {
    if (count > MOST) return -E2BIG;
    union control control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof(int))},
    };
    memcpy(CMSG_DATA(&control.head), descriptors, count * sizeof(int));
    struct iovec text[2] = {{.iov_base = (void *)names, .iov_len = strlen(names)}, {.iov_base = "\n", .iov_len = 1}};
    struct msghdr message = {
        .msg_iov = text, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    struct timeval limit = {.tv_sec = 5};
    setsockopt(launcher, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    pid_t program;
    if (sendmsg(launcher, &message, MSG_NOSIGNAL) < 0) return -errno;
    ssize_t length = recv(launcher, &program, sizeof program, 0);
    if (length < 0) return -errno;
    return length == sizeof program ? program : -EPIPE;
}
