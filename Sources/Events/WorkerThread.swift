private import CLinux
private import Glibc
public import Time

/// A thread with a name that runs one function to its end.
@safe
public final class WorkerThread {
    private final class Start {
        let body: @Sendable () -> Void
        let name: String

        init(_ body: @escaping @Sendable () -> Void, _ name: String) {
            self.body = body
            self.name = name
        }
    }

    private var thread = pthread_t()

    /// Starts a thread that runs `body`.
    ///
    /// All signals are blocked in it but those of its own errors: they belong to the main thread.
    public init(name: String, body: @escaping @Sendable () -> Void) {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe martlet_leave_fatal_signals(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        let start = unsafe Unmanaged.passRetained(Start(body, name)).toOpaque()
        let error = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                unsafe martlet_set_thread_name(start.name)
                martlet_crash_add_thread()
                start.body()
                martlet_crash_remove_thread()
                return nil
            },
            start
        )
        guard error == 0 else { fatalError("cannot start a thread") }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Lets the thread end by itself; nobody will wait for it.
    public func detach() {
        pthread_detach(thread)
    }

    /// Waits until the function has returned, for at most `limit`.
    ///
    /// - Returns: false if it has not; it may be waited for again then.
    public func join(within limit: Duration) -> Bool {
        martlet_join_thread(thread, limit.nanoseconds)
    }
}
