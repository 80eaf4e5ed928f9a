#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_DESCRIPTOR = 3, NAMES_ROOM = 64 * 1024, MOST = MARTLET_MOST_HANDED_OVER + 1 };

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(MOST * sizeof(int))];
};

// What stands before the names in a request, and in a reply.
struct header {
    unsigned number; // of the request; a reply has that of its request
    int kind;        // LAUNCH or KILL; in a reply the process, or a negative errno
};

enum { LAUNCH = 1, KILL = 2 };

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

// There may be more descriptors than are allowed: those that were received, and those that they become.
static bool arrange_all(int *descriptors, int count) {
    struct rlimit before, all;
    if (getrlimit(RLIMIT_NOFILE, &before) < 0) return false;
    all = (struct rlimit){before.rlim_max, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &all);
    bool result = arrange(descriptors, count);
    int error = errno;
    setrlimit(RLIMIT_NOFILE, &before);
    errno = error;
    return result;
}

static _Noreturn void become_new(const char *path, char *const argv[], const char *names, int *descriptors, int count) {
    // A session and a group of its own: whatever a script in the place of the program starts ends with it.
    setsid();
    if (!arrange_all(descriptors, count)) {
        dprintf(STDERR_FILENO, "martlet: cannot hand %d sockets over: %s\n", count - 1, martlet_error_text(errno));
        _exit(1);
    }
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

// Reads a request; returns how many descriptors came with it, or a negative errno if it is not whole.
static int receive(int requests, struct header *header, char *names, int *descriptors) {
    union control control;
    struct iovec parts[2] = {
        {.iov_base = header, .iov_len = sizeof *header}, {.iov_base = names, .iov_len = NAMES_ROOM - 1},
    };
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control,
    };
    ssize_t length;
    do length = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    if (length < (ssize_t)sizeof *header) _exit(0);
    names[length - (ssize_t)sizeof *header] = '\0';
    int count = 0;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    bool has_descriptors = head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS;
    if (has_descriptors) count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    bool is_whole = count <= MOST && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    // The kernel rounds its room up, so there may be one more than was asked for.
    for (int i = 0; i < count; i++) {
        int descriptor;
        memcpy(&descriptor, CMSG_DATA(head) + (size_t)i * sizeof descriptor, sizeof descriptor);
        if (is_whole) descriptors[i] = descriptor;
        else close(descriptor);
    }
    return is_whole ? count : -E2BIG;
}

// Kills a process that was launched, and all of its group. Also the process itself, which may not have its group yet.
static void kill_group(pid_t program) {
    kill(program, SIGKILL);
    kill(-program, SIGKILL);
}

// Serves one process until that ends.
static _Noreturn void serve(int requests, const char *path, char *const argv[]) {
    static char names[NAMES_ROOM];
    pid_t program = 0;
    while (true) {
        struct header header;
        int descriptors[MOST], copies[MOST];
        int count = receive(requests, &header, names, descriptors);
        if (header.kind == KILL && program > 0) {
            kill_group(program);
            // Its number may become another's.
            program = 0;
        }
        if (header.kind == LAUNCH) {
            program = count > 0 ? count : -EINVAL;
            if (count > 0) {
                memcpy(copies, descriptors, (size_t)count * sizeof(int));
                program = launch(path, argv, names, copies, count);
            }
            header.kind = count < 0 ? count : program;
            send(requests, &header, sizeof header, MSG_NOSIGNAL);
        }
        for (int i = 0; i < count; i++) close(descriptors[i]);
    }
}

// As it was named when it was executed: a link may lead to another version by now.
const char *martlet_program_path(void) {
    return (const char *)getauxval(AT_EXECFN);
}

// Has the socket in the place of standard input, which a daemon does not read: a descriptor more would be one less for callers.
static int replace_input(int descriptor) {
    if (dup2(descriptor, STDIN_FILENO) < 0) return descriptor;
    fcntl(STDIN_FILENO, F_SETFD, FD_CLOEXEC);
    close(descriptor);
    return STDIN_FILENO;
}

static pid_t launcher_process;

int martlet_launcher_start(void) {
    const char *path = martlet_program_path();
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
        // It is outside of the sandbox: its parent must not get at its memory.
        prctl(PR_SET_DUMPABLE, 0);
        if (getppid() != parent) _exit(0);
        // Who is in the sandbox can write to a pipe that is standard input.
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(1);
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
    launcher_process = child;
    return error ? -error : replace_input(ends[0]);
}

void martlet_launcher_stop(int launcher) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || dup3(nothing, launcher, O_CLOEXEC) < 0) close(launcher);
    if (nothing >= 0) close(nothing);
    while (launcher_process > 0 && waitpid(launcher_process, NULL, 0) < 0 && errno == EINTR) {}
    launcher_process = 0;
}

static unsigned last_number;

void martlet_launcher_kill(int launcher) {
    struct header header = {.number = ++last_number, .kind = KILL};
    send(launcher, &header, sizeof header, MSG_NOSIGNAL);
}

// Waits for the reply to a request, and leaves out those to earlier ones.
static pid_t reply(int launcher, unsigned number) {
    struct header header;
    while (true) {
        ssize_t length = recv(launcher, &header, sizeof header, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return errno == EAGAIN ? -ETIMEDOUT : -errno;
        if (length != sizeof header) return -EPIPE;
        if (header.number == number) return header.kind;
    }
}

pid_t martlet_launch(int launcher, const char *names, const int *descriptors, size_t count) {
    size_t length = strlen(names);
    if (count > MOST || length >= NAMES_ROOM - 1) return -E2BIG;
    union control control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof(int))},
    };
    memcpy(CMSG_DATA(&control.head), descriptors, count * sizeof(int));
    struct header header = {.number = ++last_number, .kind = LAUNCH};
    struct iovec parts[2] = {
        {.iov_base = &header, .iov_len = sizeof header}, {.iov_base = (void *)names, .iov_len = length},
    };
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    struct timeval limit = {.tv_sec = 5};
    setsockopt(launcher, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ssize_t sent;
    do sent = sendmsg(launcher, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : reply(launcher, header.number);
}
