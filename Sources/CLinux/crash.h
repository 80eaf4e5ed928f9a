#ifndef MARTLET_CRASH_H
#define MARTLET_CRASH_H

// What the parts of a crash report share. All that runs in a handler of a fatal signal is async-signal-safe: no allocation, no
// lock, no stdio.
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

// A thread that has an alternate stack for its crash.
struct crash_thread {
    _Atomic pid_t id;               // 0: the slot is free
    uintptr_t stack_start;          // the lowest address of its stack, or of the guard page below it
    uintptr_t stack_end;            // the end of its stack, behind its thread-local variables
    uintptr_t alternate, alternate_end;
    _Atomic uintptr_t stopped_at;   // its stack pointer when it stopped; 0 while it runs
};

enum { CRASH_THREADS = 128 };
extern struct crash_thread crash_threads[CRASH_THREADS];

// The slot of the calling thread; NULL if it has none.
struct crash_thread *crash_this_thread(void);

// The program or a library, as it was loaded at startup.
struct crash_module {
    const char *name; // without directories
    uintptr_t bias;
    const ElfW(Phdr) *headers;
    int header_count;
};

enum { CRASH_MODULES = 64 };
extern struct crash_module crash_modules[CRASH_MODULES];
extern int crash_module_count;

// Notes the modules.
void crash_find_modules(void);

// Leaves all memory out of a core dump but the modules' variables, what the loader knows of them, and the stacks in use of threads
// that have stopped. False if some of it could not be left out.
bool crash_leave_out_memory(void);

// Clears the vector registers with which a thread would go on: they have in them what was copied last, which may be a token.
void crash_wipe_vectors(ucontext_t *context);

// Whether another process has sent the signal.
bool crash_is_from_outside(const siginfo_t *info);

// Says that the process ends of a signal, and of which, on standard error.
void crash_report_signal(int signal, const siginfo_t *info);

// Says which thread is meant, and which calls it is in.
void crash_report_thread(const ucontext_t *context);

// Notes how reports name the program, and whether the journal reads them.
void crash_prepare_report(const char *program);

#if defined(__x86_64__)
#define CRASH_PROGRAM_COUNTER(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RIP])
#define CRASH_STACK_POINTER(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RSP])
#elif defined(__aarch64__)
#define CRASH_PROGRAM_COUNTER(context) ((uintptr_t)(context)->uc_mcontext.pc)
#define CRASH_STACK_POINTER(context) ((uintptr_t)(context)->uc_mcontext.sp)
#else
#error "say here where a signal's context has the program counter and the stack pointer"
#endif

#endif
