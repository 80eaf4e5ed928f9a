import Glibc

/// The time that a processor has worked for a thread: whatever else the machine does, it is not counted.
package enum ProcessorTime {
    /// Returns the time that `work` takes of the processor, without what it has other threads do.
    package static func measure(_ work: () throws -> Void) rethrows -> Duration {
        let start = now
        try work()
        return now - start
    }

    private static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
