#define _GNU_SOURCE
#include "crash.h"

#include "CLinux.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
enum { FATAL_SIGNALS = sizeof fatal_signals / sizeof *fatal_signals };
// How long a report may take, and how much of it the other threads have to stop.
enum { REPORT_SECONDS = 10, STOP_MILLISECONDS = 2000 };

struct crash_thread crash_threads[CRASH_THREADS];

static bool is_watched;
static bool dumps_core;
// The thread that crashed first. It reports; any other one only stops.
static _Atomic pid_t reporter;
static _Atomic bool all_threads_report;

// MARK: Threads

struct crash_thread *crash_this_thread(void) {
    pid_t self = gettid();
    for (int i = 0; i < CRASH_THREADS; i++) {
        if (atomic_load(&crash_threads[i].id) == self) return &crash_threads[i];
    }
    return NULL;
}

// Where the stack of the first thread is. pthread_getattr_np would read /proc for it; the loader knows its end, too.
static void find_first_stack(struct crash_thread *thread) {
    extern void *__libc_stack_end;
    const uintptr_t largest = 64 * 1024 * 1024;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > largest) limit.rlim_cur = largest;
    thread->stack_end = ((uintptr_t)__libc_stack_end + page) & ~(page - 1);
    thread->stack_start = thread->stack_end - limit.rlim_cur - page;
}

// Where the stack of the calling thread is, which is not the first; none if that is not known.
static void find_stack(struct crash_thread *thread) {
    thread->stack_start = thread->stack_end = 0;
    pthread_attr_t attributes;
    void *start;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    thread->stack_end = (uintptr_t)start + size;
    thread->stack_start = (uintptr_t)start - (uintptr_t)sysconf(_SC_PAGESIZE);
}

// Gives the calling thread an alternate stack, behind a page that cannot be used, and notes it in the slot.
static bool prepare(struct crash_thread *thread, bool is_first) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (64 * 1024 + getauxval(AT_MINSIGSTKSZ) + page - 1) & ~(page - 1);
    char *memory = mmap(NULL, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    stack_t stack = {.ss_sp = memory + page, .ss_size = size};
    if (mprotect(stack.ss_sp, size, PROT_READ | PROT_WRITE) != 0 || sigaltstack(&stack, NULL) != 0) {
        munmap(memory, page + size);
        return false;
    }
    if (is_first) find_first_stack(thread);
    else find_stack(thread);
    thread->alternate = (uintptr_t)stack.ss_sp;
    thread->alternate_end = thread->alternate + size;
    atomic_store(&thread->stopped_at, 0);
    return true;
}

static void add_thread(bool is_first) {
    for (int i = 0; i < CRASH_THREADS; i++) {
        pid_t expected = 0;
        // Taken with a number that no thread has, until it is whole.
        if (!atomic_compare_exchange_strong(&crash_threads[i].id, &expected, -1)) continue;
        atomic_store(&crash_threads[i].id, prepare(&crash_threads[i], is_first) ? gettid() : 0);
        return;
    }
}

void martlet_crash_add_thread(void) {
    if (is_watched) add_thread(false);
}

void martlet_crash_remove_thread(void) {
    struct crash_thread *thread = is_watched ? crash_this_thread() : NULL;
    if (!thread) return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((void *)(thread->alternate - page), thread->alternate_end - thread->alternate + page);
    atomic_store(&thread->id, 0);
}

// MARK: The crash

static void note_stop(const ucontext_t *context) {
    struct crash_thread *thread = crash_this_thread();
    if (thread) atomic_store(&thread->stopped_at, CRASH_STACK_POINTER(context));
}

// Waits for the end of the process, having noted from where on the stack is in use.
static _Noreturn void stop_here(ucontext_t *context) {
    if (atomic_load(&all_threads_report)) crash_report_thread(context);
    if (dumps_core) crash_wipe_vectors(context);
    note_stop(context);
    for (;;) pause();
}

// Stops the other threads, so that no memory comes to be after what there is has been left out. One that does not stop is held up
// in the kernel and cannot make any; its stack is not dumped.
static void stop_others(pid_t self) {
    int left = STOP_MILLISECONDS;
    for (int i = 0; i < CRASH_THREADS; i++) {
        pid_t id = atomic_load(&crash_threads[i].id);
        if (id <= 0 || id == self) continue;
        syscall(SYS_tgkill, getpid(), id, SIGABRT);
        while (atomic_load(&crash_threads[i].stopped_at) == 0 && left > 0) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            left--;
        }
    }
}

// Lets the signal do what it does by default, with what the kernel has told of it; it waits until the handler returns.
static void raise_again(int number, siginfo_t *info) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    // The kernel drops a signal without a handler that is sent to the first process of a container; an error of its own it does not.
    if (getpid() == 1 && info->si_code <= 0) _exit(128 + number);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info) == 0) return;
    // A filter of system calls may forbid it. Without a signal the other threads would stay stopped for good.
    if (syscall(SYS_tgkill, getpid(), gettid(), number) != 0) _exit(128 + number);
}

static void give_up(int number) {
    _exit(128 + number);
}

static void __attribute__((unused)) on_fatal_signal(int number, siginfo_t *info, void *data) {
    ucontext_t *context = data;
    pid_t self = gettid();
    pid_t nobody = 0;
    if (!atomic_compare_exchange_strong(&reporter, &nobody, self)) stop_here(context);

    // Whatever goes wrong with the report, the process ends; also if its parent had the alarm ignored.
    struct sigaction action = {.sa_handler = give_up};
    sigaction(SIGALRM, &action, NULL);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(REPORT_SECONDS);

    // Somebody else ended it, such as a watchdog: any thread may be the one that hangs.
    bool is_ended_from_outside = crash_is_from_outside(info);
    crash_report_signal(number, info);
    crash_report_thread(context);
    atomic_store(&all_threads_report, is_ended_from_outside);
    if (is_ended_from_outside || dumps_core) stop_others(self);
    note_stop(context);
    if (dumps_core) {
        crash_wipe_vectors(context);
        if (crash_leave_out_memory()) prctl(PR_SET_DUMPABLE, 1);
    }
    raise_again(number, info);
}

// MARK: Start

#if defined(__has_feature) && (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
// What a sanitizer says of a crash is worth more.
static void take_signals(void) {}
#else
// In the place of Swift's crash reporter too, which stops all threads from another process, and may hang over it.
static void take_signals(void) {
    struct sigaction action = {.sa_sigaction = on_fatal_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    // All signals wait, and so a second error in the handler ends the process at once.
    sigfillset(&action.sa_mask);
    for (int i = 0; i < FATAL_SIGNALS; i++) sigaction(fatal_signals[i], &action, NULL);
}
#endif

void martlet_crash_watch(const char *program) {
    prctl(PR_SET_DUMPABLE, 0);
    crash_find_modules();
    crash_prepare_report(program);
    is_watched = true;
    add_thread(true);
    take_signals();
}

void martlet_set_core_dumps(bool allowed) {
    struct rlimit limit = {0, 0};
    if (allowed && getrlimit(RLIMIT_CORE, &limit) == 0) limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
    dumps_core = allowed;
}

bool martlet_dumps_core(void) {
    return dumps_core;
}

void martlet_leave_fatal_signals(void *set) {
    for (int i = 0; i < FATAL_SIGNALS; i++) sigdelset(set, fatal_signals[i]);
}
