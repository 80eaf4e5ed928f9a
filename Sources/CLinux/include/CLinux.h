#ifndef MARTLET_CLINUX_H
#define MARTLET_CLINUX_H

// What Linux and glibc offer and Swift's Glibc module does not. The header includes nothing that could define
// _GNU_SOURCE or a type that the Glibc module defines too; the GNU sources are behind the .c files.
// A function that can fail returns a negative errno, so that no code of the caller can change errno in between.
#include <features.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Accepts a connection, non-blocking and close-on-exec; writes the peer's sockaddr unless `address` is null.
int martlet_accept4(int listener, void *_Nullable address, uint32_t *_Nullable length);

// Makes an event counter, non-blocking and close-on-exec.
int martlet_eventfd(void);

// Reads who connected to a Unix socket, as the kernel saw it at connect.
int martlet_peer_credentials(int fd, uid_t *_Nonnull uid, gid_t *_Nonnull gid, pid_t *_Nonnull pid);

// Whether the process that connected to a Unix socket has ended; false as well where the kernel cannot say (before 6.5).
bool martlet_peer_has_ended(int fd);

// Sends a datagram to a Unix socket, with a descriptor in it (SCM_RIGHTS) unless that is negative; does not wait for room.
int martlet_send_datagram(int socket, const void *_Nonnull address, uint32_t length, const void *_Nonnull bytes,
                          size_t count, int descriptor);

// The number of bytes that a TCP socket has accepted and its peer has not acknowledged, sent or not. 0 for other sockets.
int64_t martlet_unacknowledged(int fd);

// Whether the peer of a stream socket is gone or sends no more, without reading what it has sent.
bool martlet_hung_up(int fd);

// The bytes that the allocator has given out.
size_t martlet_malloc_in_use(void);

// From now on the allocator of the process keeps what is freed, up to 4 MiB at the end of each arena and 8 MiB in one block, and does not
// change these bounds by itself. To be called before there are other threads.
void martlet_malloc_keep(void);

// Gives the free memory of the allocator back to the system, but for the ends of the arenas of other threads than the first.
void martlet_malloc_trim(void);

// Gives the free end of the calling thread's arena back, but for 128 KiB; only after martlet_malloc_keep.
void martlet_malloc_trim_thread(void);

// Gives up the pages of the program and its libraries that are as their files have them; what is used comes back.
void martlet_drop_file_pages(void);

// Waits for a semaphore (a sem_t), but no longer than so many seconds of the monotonic clock; false if the time ran out.
bool martlet_sem_wait(void *_Nonnull semaphore, int seconds);

// Names the calling thread, as `ps -L` and `perf` show it; the kernel keeps 15 bytes.
void martlet_set_thread_name(const char *_Nonnull name);

// Waits for the end of a thread, by its pthread_t; false if it has not ended in time.
bool martlet_join_thread(unsigned long thread, long long nanoseconds);

// The text of an errno in English; safe on any thread, never freed.
const char *_Nonnull martlet_error_text(int error);

// How many arguments the process was started with, its name among them; whatever other constructors have done to the environment.
int martlet_argument_count(void);

// One of these arguments.
const char *_Nonnull martlet_argument(int index);

// The variables of the environment as the process was started; ends with a null.
char *_Nullable *_Nonnull martlet_first_environment(void);

// The build ID of the program in hexadecimal; empty if it has none.
void martlet_build_id(char *_Nonnull text, size_t room);

// From now on a fatal signal writes to standard error which it is and which calls the threads are in, before it ends the process as
// it would have. No other process of the user may read the memory, and no core is dumped. `program` is a name and a version. To be
// called before there are other threads.
void martlet_crash_watch(const char *_Nonnull program);

// Whether a crash dumps core from now on: without the heap, the environment and what the program has mapped besides, but with the
// stacks in use, the registers and the variables of the program and its libraries. If not, it cannot be allowed again.
// Only after martlet_crash_watch, before there are other threads.
void martlet_set_core_dumps(bool allowed);

// What martlet_set_core_dumps was told; false before.
bool martlet_dumps_core(void);

// Gives the calling thread a stack on which to report a crash, and notes it, where crashes are watched.
void martlet_crash_add_thread(void);

// Takes back what martlet_crash_add_thread did. To be called before the thread ends.
void martlet_crash_remove_thread(void);

// Takes the signals that end a process by its own error out of a set (a sigset_t). Blocked, they end it without a report.
void martlet_leave_fatal_signals(void *_Nonnull set);

// Makes an inotify instance, non-blocking and close-on-exec.
int martlet_inotify_open(void);

// Watches a directory for everything that changes what a name in it leads to; returns the watch.
int martlet_inotify_add(int inotify, const char *_Nonnull directory);

// Ends a watch.
void martlet_inotify_remove(int inotify, int watch);

// What one event of an inotify instance tells.
struct martlet_inotify_event {
    int watch;        // the watch it belongs to
    bool watch_ended; // the kernel has ended the watch: its directory is gone
    bool events_lost; // events were lost: anything may have changed; belongs to no watch
};

// Reads the event at `*offset` of what read(2) brought and moves `*offset` to the next; false at the end.
bool martlet_inotify_next(const void *_Nonnull bytes, size_t count, size_t *_Nonnull offset,
                          struct martlet_inotify_event *_Nonnull event);

// How many descriptors the process may have open: the soft limit, or the hard one that the soft one may be raised to.
long martlet_descriptor_limit(bool hard);

// Raises the soft limit of descriptors to the hard one. To be called before there are other threads.
void martlet_raise_descriptor_limit(void);

// Makes the table of descriptors large enough for so many, or for the limit if that is lower. Before there are threads.
void martlet_reserve_descriptors(long count);

// Makes a file without a name in a directory, for reading and writing by this process alone; close-on-exec.
int martlet_open_unnamed(const char *_Nonnull directory);

// Gives this process, a child that is about to become a program, the limit of descriptors that its parent was started with: the
// program may use select(2), which takes no descriptor from 1024 on, or close all that it could have.
void martlet_restore_descriptor_limit(void);

// A program that was started.
typedef struct {
    pid_t pid;
    int output; // what it writes to its standard output; non-blocking
    int handle; // can be read once it has ended
} martlet_child;

// Starts a program without a shell, argv[0] being its path; its input and its errors are /dev/null. Returns an errno, or 0.
int martlet_spawn(const char *_Nullable const *_Nonnull argv, const char *_Nullable const *_Nonnull envp,
                  martlet_child *_Nonnull child);

// Kills a program and what it has started.
void martlet_kill(pid_t pid);

// A program that waits for its begin: a child, which is made while this process has one thread and nothing to hide.
typedef struct {
    pid_t pid;
    int gate;   // what begins it; if it is closed before, the child ends and never becomes the program
    int handle; // can be read once it has ended
} martlet_job;

// Makes such a child for the program argv[0], which is sought in PATH. It gets the standard streams, no other descriptor,
// and SIGTERM when this process ends. Returns an errno, or 0.
int martlet_job_prepare(const char *_Nullable const *_Nonnull argv, martlet_job *_Nonnull job);

// Begins the program with variables beside those that this process was started with: `NAME=value`, each with a zero behind it, and a
// zero at the end; at most 1 MiB. Closes the gate. Returns an errno, or 0. A program that cannot be executed
// ends with 126, or 127 if there is none, as a shell would.
int martlet_job_begin(int gate, const void *_Nonnull variables, size_t count);

// From now on the signals TERM, INT, QUIT, USR1, USR2, WINCH, CONT and TSTP go to a process, but for those that the terminal
// has sent it already.
void martlet_job_pass_signals(pid_t pid);

// Ends what martlet_job_pass_signals has begun, before the process is waited for: its number may be another's then.
void martlet_job_keep_signals(void);

// The most sockets that martlet_launch hands over: with one more descriptor, what the kernel takes in a message.
#define MARTLET_MOST_HANDED_OVER 250

// Makes a process that can start this program anew, by the path and with the arguments and the environment that it was started
// with, whatever this process has given up since. It lives as long as this one, which must have one thread. Returns a socket
// that martlet_launch needs, or a negative errno.
int martlet_launcher_start(void);

// Starts the program anew and hands it listening sockets as sd_listen_fds(3) says, named `a:b:c`; the last descriptor is not
// one of them, and MARTLET_UPGRADE says which it is. Returns the number of the new process, which is nobody's child and may
// fail still, or a negative errno. Waits for 5 s at most.
pid_t martlet_launch(int launcher, const char *_Nonnull names, const int *_Nonnull descriptors, size_t count);

// Kills the process that was launched last, and all of its group: this one may be in a sandbox that lets it signal no other.
void martlet_launcher_kill(int launcher);

// Ends the process that martlet_launcher_start has made, and reaps it. Standard input is /dev/null afterwards.
void martlet_launcher_stop(int launcher);

// The path by which this program was executed, or null. Relative to the working directory at that time.
const char *_Nullable martlet_program_path(void);

// Makes processes whose parents have ended children of this one.
void martlet_adopt_orphans(void);

// A child that has ended and has not been waited for; 0 if there is none.
pid_t martlet_ended_child(void);

// The exit status of a program that has ended, 128 + n if signal n ended it, 255 if that is not known; -1 if it
// has not ended.
int martlet_reap(pid_t pid);

// What a path is allowed for in a sandbox.
enum martlet_landlock_use {
    MARTLET_LANDLOCK_READ,  // reading beneath it
    MARTLET_LANDLOCK_RUN,   // the same, and starting programs
    MARTLET_LANDLOCK_WRITE, // reading, writing, making and removing beneath it
    MARTLET_LANDLOCK_SOCKET, // making Unix sockets beneath it, and removing files
    MARTLET_LANDLOCK_DEVICE // reading, writing and controlling this one
};

// Which version of Landlock the kernel has; a negative errno if it has none, or has it turned off.
int martlet_landlock_version(void);

// Processes outside of a sandbox that it cannot reach.
enum martlet_landlock_scope {
    MARTLET_LANDLOCK_SIGNALS = 1,         // by a signal
    MARTLET_LANDLOCK_ABSTRACT_SOCKETS = 2 // by a Unix socket without a file
};

// Makes a set of rules for a version; without any, it forbids all files. `listening` also forbids to bind every TCP port, and
// `connecting` to connect to it, if the version can (4). `scopes` has bits of enum martlet_landlock_scope (6). Returns a
// descriptor, close-on-exec.
int martlet_landlock_open(int version, bool listening, bool connecting, int scopes);

// Allows the use of a file, or of all beneath a directory.
int martlet_landlock_allow_path(int ruleset, int version, const char *_Nonnull path, enum martlet_landlock_use use);

// Allows to bind TCP sockets to a port, 0 being one that the system chooses, or to connect to it.
int martlet_landlock_allow_port(int ruleset, uint16_t port, bool binds);

// From now on the rules hold for the calling thread and what it starts. Only after martlet_renounce_privileges.
int martlet_landlock_enter(int ruleset);

// From now on no program that is started gets more privileges than this process has. Of the capabilities it keeps those to use files
// of others, to bind low ports and to end its programs. To be called before there are other threads.
int martlet_renounce_privileges(void);

// From now on the process can make the system calls of an ordinary service alone, and start programs if it says so: every other
// fails with EPERM. Only after martlet_renounce_privileges.
int martlet_filter_calls(bool starts_programs);

// Forbids a connection that begins with its first bytes, which Landlock's rules of ports do not see. Returns 0, or a negative errno.
int martlet_filter_fast_open(void);

// From now on no Unix socket can be made, except pairs of connected stream sockets. Those that are open stay so. Only after
// martlet_filter_calls. Returns 0, or a negative errno.
int martlet_filter_unix_sockets(void);

#endif
