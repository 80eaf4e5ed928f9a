internal import Events
internal import Proxy

/// Gives memory back to the system after a great load has gone: glibc by itself keeps what was once needed.
final class MemoryKeeper {
    private static let interval = 30 * Nanoseconds.second
    /// Fewer connections than this are no great load.
    private static let many = 256

    private let daemon: Daemon
    private var timer: Timer?
    private var most = 0

    init(_ daemon: Daemon) {
        self.daemon = daemon
        timer = Timer(on: daemon.loop.timers) { [unowned self] in look() }
        timer?.arm(after: Self.interval)
    }

    private func look() {
        timer?.arm(after: Self.interval)
        daemon.workers?.ask {
            $0.connectionCount
        } then: { [self] counts in
            let connections = counts.reduce(0, +)
            most = max(most, connections)
            guard most >= Self.many, connections < most / 2 else { return }
            most = connections
            Memory.trim()
        }
    }
}
