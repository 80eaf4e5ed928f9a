private import CLinux
private import Glibc

/// The child processes that somebody waits for, and those that nobody does.
///
/// The first process of a container inherits each process whose parent has ended, and has to wait for it: else it stays
/// a zombie and its number is never free again. The same is true of a process that runs a `Job`. May be used on any thread.
public enum Children {
    /// The processes that a `Subprocess` or a `Job` waits for.
    private static let own = Locked<Set<Int32>>([])

    /// Starts a process by `spawn`, which returns its number, or none if that failed.
    ///
    /// No orphan is reaped meanwhile: a process that ends at once is known before.
    static func add(_ spawn: () -> Int32?) {
        own.withLock { own in
            if let pid = spawn() { own.insert(pid) }
        }
    }

    /// The exit status of a process that was added, 128 + n if signal n ended it; none if it has not ended.
    static func reap(_ pid: Int32) -> Int32? {
        let status = own.withLock { own -> Int32? in
            let status = martlet_reap(pid)
            guard status >= 0 else { return nil }
            own.remove(pid)
            return status
        }
        // It may have stood before orphans.
        if status != nil { reapOrphans() }
        return status
    }

    /// Reaps the processes that nobody waits for.
    ///
    /// The kernel shows the first that has ended, so one that somebody waits for holds up those behind it until it is
    /// reaped. A process that is shown is not taken: a `Subprocess` needs its number until it has killed its group, and a `Job` as long as it sends signals.
    public static func reapOrphans() {
        own.withLock { own in
            while true {
                let pid = martlet_ended_child()
                guard pid > 0, !own.contains(pid) else { return }
                _ = martlet_reap(pid)
            }
        }
    }
}
