#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { MOST_VARIABLES = 1024 * 1024, NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

// The variables of the environment that are meant for this process alone.
static const char *const own_variables[] = {
    "NOTIFY_SOCKET", "LISTEN_PID",    "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES",
    "WATCHDOG_PID",  "WATCHDOG_USEC", "FDSTORE",        "CREDENTIALS_DIRECTORY",
};

// Ends quietly unless all variables have come, of which the last is empty: then nobody wants the program any more.
static void receive_variables(int gate) {
    static char text[MOST_VARIABLES];
    size_t count = 0;
    ssize_t piece;
    do {
        piece = read(gate, text + count, sizeof text - count);
        if (piece > 0) count += (size_t)piece;
    } while (piece > 0 || (piece < 0 && errno == EINTR));
    if (count == 0 || text[count - 1] != '\0' || (count > 1 && text[count - 2] != '\0')) _exit(1);
    for (size_t i = 0; i < sizeof own_variables / sizeof *own_variables; i++) unsetenv(own_variables[i]);
    for (char *variable = text; *variable != '\0'; variable += strlen(variable) + 1) {
        // The daemon may have been taken over meanwhile, and is to say no more than where it listens.
        if (strncmp(variable, "MARTLET_", 8) != 0) _exit(1);
        putenv(variable);
    }
}

// What Martlet handles has its standard effect on the program. Of the rest, nohup and shells ignore some signals on purpose.
static void restore_signals(void) {
    struct sigaction standard = {.sa_handler = SIG_DFL}, now;
    for (int number = 1; number < NSIG; number++) {
        bool may_be_ignored = number == SIGHUP || number == SIGINT || number == SIGQUIT;
        if (may_be_ignored && sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN) continue;
        sigaction(number, &standard, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void wait_and_become(int gate, pid_t parent, const char *const argv[]) {
    // Signals that come meanwhile wait for the program.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    // It is outside of the sandbox of its parent, which must not get at its memory; the program is as any other again.
    prctl(PR_SET_DUMPABLE, 0);
    if (getppid() != parent) _exit(1);
    receive_variables(gate);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    restore_signals();
    execvp(argv[0], (char *const *)argv);
    int error = errno;
    dprintf(STDERR_FILENO, "martlet: cannot execute %s: %s\n", argv[0], martlet_error_text(error));
    _exit(error == ENOENT || error == ENOTDIR ? NOT_FOUND : NOT_EXECUTABLE);
}

int martlet_job_prepare(const char *const argv[], martlet_job *job) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return errno;
    pid_t parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    int error = child < 0 ? errno : 0;
    if (child == 0) {
        close(ends[1]);
        wait_and_become(ends[0], parent, argv);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    *job = (martlet_job){.pid = child, .gate = ends[1], .handle = -1};
    if (!error) job->handle = (int)syscall(SYS_pidfd_open, child, 0);
    if (!error && job->handle < 0) error = errno;
    if (error) close(ends[1]);
    return error;
}

int martlet_job_begin(int gate, const void *variables, size_t count) {
    int error = 0;
    for (size_t sent = 0; sent < count && !error;) {
        ssize_t piece = write(gate, (const char *)variables + sent, count - sent);
        if (piece >= 0) sent += (size_t)piece;
        else if (errno != EINTR) error = errno;
    }
    close(gate);
    return error;
}

static _Atomic pid_t receiver;

// What the terminal sends goes to its whole foreground group, in which the program usually is, too.
static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    pid_t pid = atomic_load(&receiver);
    bool has_come = info->si_code == SI_KERNEL && getpgid(pid) == getpgrp();
    if (has_come && number == SIGTSTP) raise(SIGSTOP);
    if (!has_come && pid > 0) kill(pid, number);
    errno = error;
}

static const int passed_on[] = {SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };
// What handled them before: put back as a whole, so that no signal comes in between.
static struct sigaction earlier[PASSED_ON];

void martlet_job_pass_signals(pid_t pid) {
    atomic_store(&receiver, pid);
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < PASSED_ON; i++) sigaction(passed_on[i], &action, &earlier[i]);
}

void martlet_job_keep_signals(void) {
    for (size_t i = 0; i < PASSED_ON; i++) sigaction(passed_on[i], &earlier[i], NULL);
    atomic_store(&receiver, 0);
}

void martlet_adopt_orphans(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}
