#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

// Puts the output on a pipe, and all else on /dev/null: what a program says of a secret shall not get into a log.
static int start(pid_t *pid, int output, const char *const argv[], const char *const envp[]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A group of its own, so that whatever it starts ends with it.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn(pid, argv[0], &actions, &attributes, (char *const *)argv, (char *const *)envp);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
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
    martlet_restore_descriptor_limit(child->pid);
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
