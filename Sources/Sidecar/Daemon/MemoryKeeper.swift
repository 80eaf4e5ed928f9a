internal import Events

/// Gives memory back to the system after a load has gone: glibc by itself keeps most of what was once needed, and each
/// burst leaves a little more of it in pieces.
final class MemoryKeeper {
    private static let interval = 30 * Nanoseconds.second
    /// Less than this that is resident and not in use is left for the next burst; stacks and data of the program are half of it.
    private static let much = 2 << 20

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
        if ProcessMetrics.ownBytes - Memory.inUse > Self.much { Memory.trim() }
    }
}
