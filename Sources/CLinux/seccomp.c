#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The calls of systemd's @system-service that are neither @privileged nor @resources, without those that a service does not need and
// that have been ways out of a sandbox: io_uring, keys, ptrace and its kin, user faults, namespaces.
//
// The kernel runs a filter once for each call, when it is loaded, and notes which calls it allows whatever their arguments are:
// these cost next to nothing from then on. So the calls of the path of an RPC must not be among those whose arguments are checked.

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define FCHMODAT2 452
// Of the kernel that this list was made with, 6.18. Programs do without a later call if the kernel does not know it, but not if
// it is forbidden.
#define LAST_KNOWN 469

static const int always_allowed[] = {
    // The path of an RPC, for kernels before 5.11, which run the filter each time.
    SYS_epoll_pwait, SYS_read, SYS_write, SYS_recvfrom, SYS_sendto, SYS_readv, SYS_writev, SYS_recvmsg, SYS_sendmsg, SYS_futex,
    SYS_accept4, SYS_close, SYS_epoll_ctl, SYS_clock_gettime, SYS_madvise, SYS_connect, SYS_shutdown, SYS_getsockopt,
    SYS_setsockopt,
    // Memory and time.
    SYS_brk, SYS_clock_getres, SYS_clock_nanosleep, SYS_getrandom, SYS_gettimeofday, SYS_membarrier, SYS_memfd_create, SYS_mlock,
    SYS_mlock2, SYS_mlockall, SYS_mmap, SYS_mprotect, SYS_mremap, SYS_msync, SYS_munlock, SYS_munlockall, SYS_munmap,
    SYS_nanosleep, SYS_getitimer, SYS_setitimer, SYS_timer_create, SYS_timer_delete, SYS_timer_getoverrun, SYS_timer_gettime,
    SYS_timer_settime, SYS_timerfd_create, SYS_timerfd_gettime, SYS_timerfd_settime, SYS_times, SYS_get_mempolicy,
    // Descriptors.
    SYS_close_range, SYS_dup, SYS_dup3, SYS_epoll_create1, SYS_epoll_pwait2, SYS_eventfd2, SYS_fcntl, SYS_flock,
    SYS_inotify_add_watch, SYS_inotify_init1, SYS_inotify_rm_watch, SYS_lseek, SYS_pipe2, SYS_ppoll, SYS_pread64, SYS_preadv,
    SYS_preadv2, SYS_pselect6, SYS_pwrite64, SYS_pwritev, SYS_pwritev2, SYS_sendfile, SYS_signalfd4, SYS_splice, SYS_tee,
    SYS_vmsplice,
    // Files.
    SYS_chdir, SYS_copy_file_range, SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fallocate, SYS_fchdir, SYS_fchown,
    SYS_fchownat, SYS_fdatasync, SYS_fgetxattr, SYS_flistxattr, SYS_fremovexattr, SYS_fsetxattr, SYS_fstat, SYS_fstatfs, SYS_fsync,
    SYS_ftruncate, SYS_getcwd, SYS_getdents64, SYS_getxattr, SYS_lgetxattr, SYS_linkat, SYS_listxattr, SYS_llistxattr,
    SYS_lremovexattr, SYS_lsetxattr, SYS_mkdirat, SYS_newfstatat, SYS_readahead, SYS_readlinkat, SYS_removexattr, SYS_renameat,
    SYS_renameat2, SYS_setxattr, SYS_statfs, SYS_statx, SYS_symlinkat, SYS_sync_file_range, SYS_syncfs, SYS_truncate, SYS_umask,
    SYS_unlinkat, SYS_utimensat,
    // Sockets.
    SYS_accept, SYS_bind, SYS_getpeername, SYS_getsockname, SYS_listen, SYS_recvmmsg, SYS_sendmmsg,
    // Threads, signals, and what the process is.
    SYS_capget, SYS_exit, SYS_exit_group, SYS_get_robust_list, SYS_getcpu, SYS_getegid, SYS_geteuid, SYS_getgid, SYS_getgroups,
    SYS_getpgid, SYS_getpid, SYS_getppid, SYS_getpriority, SYS_getresgid, SYS_getresuid, SYS_getrusage, SYS_getsid, SYS_gettid,
    SYS_getuid, SYS_kill, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_prctl, SYS_restart_syscall, SYS_rseq,
    SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask, SYS_rt_sigqueueinfo, SYS_rt_sigreturn, SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_rt_tgsigqueueinfo, SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_getaffinity,
    SYS_sched_getattr, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_rr_get_interval, SYS_sched_yield,
    SYS_set_robust_list, SYS_set_tid_address, SYS_setpgid, SYS_setsid, SYS_sigaltstack, SYS_sysinfo, SYS_tgkill, SYS_tkill,
    SYS_uname, SYS_wait4, SYS_waitid,
    // More of what this filter does.
    SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self,
    // Memory and messages that processes share.
    SYS_mq_getsetattr, SYS_mq_notify, SYS_mq_open, SYS_mq_timedreceive, SYS_mq_timedsend, SYS_mq_unlink, SYS_msgctl, SYS_msgget,
    SYS_msgrcv, SYS_msgsnd, SYS_semctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_shmget,
#if defined(__x86_64__)
    // The earlier forms of some, which this architecture alone has.
    SYS_access, SYS_alarm, SYS_arch_prctl, SYS_chown, SYS_dup2, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_futimesat,
    SYS_getdents, SYS_getpgrp, SYS_getrlimit, SYS_inotify_init, SYS_lchown, SYS_link, SYS_lstat, SYS_mkdir, SYS_pause, SYS_pipe,
    SYS_poll, SYS_readlink, SYS_rename, SYS_rmdir, SYS_select, SYS_signalfd, SYS_stat, SYS_symlink, SYS_time, SYS_unlink,
    SYS_utime, SYS_utimes,
#endif
};

// MARK: The program

enum { ROOM = 1024 };
struct program {
    struct sock_filter steps[ROOM];
    unsigned short length;
};

static const uint32_t allow = SECCOMP_RET_ALLOW;
#define FAIL(error) (SECCOMP_RET_ERRNO | (error))

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    program->steps[program->length++] = (struct sock_filter)BPF_JUMP(code, value, if_true, if_false);
}

static void load(struct program *program, size_t offset) {
    add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

// The lower half of an argument, which comes first: all that the kernel reads of the arguments that are checked.
static void load_argument(struct program *program, int index) {
    load(program, offsetof(struct seccomp_data, args) + (size_t)index * 8);
}

static void end(struct program *program, uint32_t verdict) {
    add(program, BPF_RET | BPF_K, verdict, 0, 0);
}

static void end_if_equal(struct program *program, uint32_t value, uint32_t verdict) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    end(program, verdict);
}

static void end_if_any(struct program *program, uint32_t bits, uint32_t verdict) {
    add(program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    end(program, verdict);
}

static void end_if_none(struct program *program, uint32_t bits, uint32_t verdict) {
    add(program, BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
    end(program, verdict);
}

// The steps between `start` and `finish` are for one call, and end it.
static unsigned short start(struct program *program, int call) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 0);
    return program->length;
}

static void finish(struct program *program, unsigned short start, uint32_t verdict) {
    end(program, verdict);
    program->steps[start - 1].jf = (uint8_t)(program->length - start);
}

// MARK: What depends on arguments

enum { SOCKET_KIND = 0xf };

// Raw sockets and other families see the traffic and the settings of the machine; other protocols than TCP pass by Landlock. The
// protocol of a sequenced-packet socket is SCTP, whose number is then 0.
static void check_sockets(struct program *program) {
    unsigned short call = start(program, SYS_socket);
    load_argument(program, 1);
    add(program, BPF_ALU | BPF_AND | BPF_K, SOCKET_KIND, 0, 0);
    end_if_equal(program, SOCK_RAW, FAIL(EPERM));
    load_argument(program, 2);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 2, 0);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 1, 0);
    end(program, FAIL(EPROTONOSUPPORT));
    load_argument(program, 0);
    end_if_equal(program, AF_UNIX, allow);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
    end(program, FAIL(EAFNOSUPPORT));
    load_argument(program, 1);
    add(program, BPF_ALU | BPF_AND | BPF_K, SOCKET_KIND, 0, 0);
    end_if_equal(program, SOCK_STREAM, allow);
    end_if_equal(program, SOCK_DGRAM, allow);
    finish(program, call, FAIL(EPERM));

    call = start(program, SYS_socketpair);
    load_argument(program, 0);
    end_if_equal(program, AF_UNIX, allow);
    finish(program, call, FAIL(EAFNOSUPPORT));
}

static void check_processes(struct program *program, bool starts_programs) {
    const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                CLONE_NEWNET;
    unsigned short call = start(program, SYS_clone);
    load_argument(program, 0);
    end_if_any(program, namespaces, FAIL(EPERM));
    if (!starts_programs) end_if_none(program, CLONE_THREAD, FAIL(EPERM));
    finish(program, call, allow);
    // Its arguments are in memory, where a filter does not see them. glibc then takes clone.
    end_if_equal(program, SYS_clone3, FAIL(ENOSYS));
    if (!starts_programs) return;
    end_if_equal(program, SYS_execve, allow);
    end_if_equal(program, SYS_execveat, allow);
#if defined(__x86_64__)
    end_if_equal(program, SYS_fork, allow);
    end_if_equal(program, SYS_vfork, allow);
#endif
}

static const uint32_t privileged_modes = S_ISUID | S_ISGID;

static void check_mode(struct program *program, int number, int mode) {
    unsigned short call = start(program, number);
    load_argument(program, mode);
    end_if_any(program, privileged_modes, FAIL(EPERM));
    finish(program, call, allow);
}

// The mode counts only if the call may make a file.
static void check_open(struct program *program, int number, int flags) {
    unsigned short call = start(program, number);
    load_argument(program, flags);
    end_if_none(program, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), allow);
    load_argument(program, flags + 1);
    end_if_any(program, privileged_modes, FAIL(EPERM));
    finish(program, call, allow);
}

// Another process could be killed by its limits.
static void check_limits(struct program *program) {
    unsigned short call = start(program, SYS_prlimit64);
    load_argument(program, 0);
    end_if_equal(program, 0, allow);
    finish(program, call, FAIL(EPERM));
}

static void check_files(struct program *program) {
    check_open(program, SYS_openat, 2);
    end_if_equal(program, SYS_openat2, FAIL(ENOSYS));
    check_mode(program, SYS_fchmod, 1);
    check_mode(program, SYS_fchmodat, 2);
    check_mode(program, FCHMODAT2, 2);
    check_mode(program, SYS_mknodat, 2);
#if defined(__x86_64__)
    check_open(program, SYS_open, 1);
    check_mode(program, SYS_chmod, 1);
    check_mode(program, SYS_creat, 1);
    check_mode(program, SYS_mknod, 1);
#endif
    // They type for whoever uses the terminal.
    unsigned short call = start(program, SYS_ioctl);
    load_argument(program, 1);
    end_if_equal(program, TIOCSTI, FAIL(EPERM));
    end_if_equal(program, TIOCLINUX, FAIL(EPERM));
    finish(program, call, allow);
}

#ifdef OWN_ARCHITECTURE
static void write_program(struct program *program, bool starts_programs) {
    load(program, offsetof(struct seccomp_data, arch));
    add(program, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    end(program, SECCOMP_RET_KILL_PROCESS);
    load(program, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    // The calls of x32, which are others under numbers of their own.
    add(program, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    end(program, SECCOMP_RET_KILL_PROCESS);
#endif
    for (size_t i = 0; i < sizeof always_allowed / sizeof *always_allowed; i++) {
        end_if_equal(program, (uint32_t)always_allowed[i], allow);
    }
    check_sockets(program);
    check_processes(program, starts_programs);
    check_limits(program);
    check_files(program);
    add(program, BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1);
    end(program, FAIL(ENOSYS));
    end(program, FAIL(EPERM));
}

static int enforce(struct program *program) {
    struct sock_fprog filter = {program->length, program->steps};
    // For every thread, should there be others; a thread that cannot be reached is returned by its number.
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    return result < 0 ? -errno : result > 0 ? -ESRCH : 0;
}

int martlet_filter_calls(bool starts_programs) {
    struct program program = {.length = 0};
    write_program(&program, starts_programs);
    return enforce(&program);
}

int martlet_filter_fast_open(void) {
    static const struct { int number, flags; } calls[] = {{SYS_sendto, 3}, {SYS_sendmsg, 2}, {SYS_sendmmsg, 3}};
    struct program program = {.length = 0};
    load(&program, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        unsigned short call = start(&program, calls[i].number);
        load_argument(&program, calls[i].flags);
        end_if_any(&program, MSG_FASTOPEN, FAIL(EPERM));
        finish(&program, call, allow);
    }
    end(&program, allow);
    return enforce(&program);
}

// A pair of stream sockets is connected for good. A datagram socket of a pair can send to any other socket.
int martlet_filter_unix_sockets(void) {
    struct program program = {.length = 0};
    load(&program, offsetof(struct seccomp_data, nr));
    unsigned short call = start(&program, SYS_socket);
    load_argument(&program, 0);
    end_if_equal(&program, AF_UNIX, FAIL(EPERM));
    finish(&program, call, allow);
    call = start(&program, SYS_socketpair);
    load_argument(&program, 1);
    add(&program, BPF_ALU | BPF_AND | BPF_K, SOCKET_KIND, 0, 0);
    end_if_equal(&program, SOCK_STREAM, allow);
    end_if_equal(&program, SOCK_SEQPACKET, allow);
    finish(&program, call, FAIL(EPERM));
    end(&program, allow);
    return enforce(&program);
}
#else
int martlet_filter_calls(bool starts_programs) {
    (void)starts_programs;
    return -ENOSYS;
}

int martlet_filter_fast_open(void) {
    return -ENOSYS;
}

int martlet_filter_unix_sockets(void) {
    return -ENOSYS;
}
#endif
