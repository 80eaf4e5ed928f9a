internal import Events

/// Gives memory back to the system after a great load has gone: glibc by itself keeps what was once needed.
final class MemoryKeeper {
    private static let interval = 30 * Nanoseconds.second
    /// Less than this that is resident and not in use is worth nothing.
    private static let much = 24 << 20

    private let loop: EventLoop
    private var timer: Timer?

    init(loop: EventLoop) {
        self.loop = loop
        timer = Timer(on: loop.timers) { [unowned self] in look() }
        timer?.arm(after: Self.interval)
    }

    deinit {
        timer?.cancel()
    }

    private func look() {
        timer?.arm(after: Self.interval)
        // What is in use is some of what is resident; the rest is the program itself, and what waits to be given back.
        if ProcessMetrics.residentBytes - Memory.inUse > Self.much { Memory.trim() }
    }
}
