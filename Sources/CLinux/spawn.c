#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

// What the child does before it becomes the program. Until then it has the memory of its parent, so it calls the kernel alone.
static _Noreturn void become(int output, const char *const argv[], const char *const envp[], int failure) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    // A group of its own, so that whatever it starts ends with it.
    setpgid(0, 0);
    // The output is on a pipe, and all else on /dev/null: what a program says of a secret shall not get into a log.
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 && dup2(nothing, 2) >= 0) {
        martlet_restore_descriptor_limit();
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execve(argv[0], (char *const *)argv, (char *const *)envp);
    }
    int error = errno;
    write(failure, &error, sizeof error);
    _exit(127);
}

// Not posix_spawn, which cannot set a limit of resources.
static int start(pid_t *pid, int output, const char *const argv[], const char *const envp[]) {
    int failure[2];
    // Not in memory, though the child of vfork shares ours: sanitizers make it a copy, which is not waited for.
    if (pipe2(failure, O_CLOEXEC) < 0) return errno;
    int error = 0;
    sigset_t all, before;
    sigfillset(&all);
    // No handler of ours runs in the child.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = vfork();
    if (child == 0) become(output, argv, envp, failure[1]);
    if (child < 0) error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(failure[1]);
    // The end of the pipe comes when the child has become the program.
    while (read(failure[0], &error, sizeof error) < 0 && errno == EINTR) {}
    close(failure[0]);
    if (error && child > 0) waitpid(child, NULL, 0);
    *pid = child;
    return error;
}

int martlet_spawn(const char *const argv[], const char *const envp[], martlet_child *child) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return errno;
    int error = start(&child->pid, ends[1], argv, envp);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return error;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child->output = ends[0];
    child->handle = (int)syscall(SYS_pidfd_open, child->pid, 0);
    if (child->handle >= 0) return 0;
    error = errno;
    martlet_kill(child->pid);
    waitpid(child->pid, NULL, 0);
    close(ends[0]);
    return error;
}

void martlet_kill(pid_t pid) {
    kill(-pid, SIGKILL);
}

pid_t martlet_ended_child(void) {
    siginfo_t child = {0};
    return waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 ? child.si_pid : 0;
}

int martlet_reap(pid_t pid) {
    int status = 0;
    pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == 0) return -1;
    // Where SIGCHLD is ignored nobody can tell how it ended.
    if (ended < 0) return 255;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
