import Bytes
import Events
import Glibc
import Time

/// One end of a connection in memory.
///
/// What one end sends, the other receives; readiness is told by `tell`.
final class MemoryTransport: Events.Transport {
    /// What becomes of a connect.
    enum Connect { case pending, done, failed(Int32) }

    /// How many bytes that nobody has read yet this end takes; fewer make its peer stuck.
    var room = Int.max
    /// How often this end takes bytes before it resets the connection; its peer is told once, as the kernel does.
    var takesUntilReset = Int.max
    var connect = Connect.done
    var watchesRead = false
    var watchesWrite = false
    var resetsOnClose = false

    private var arrived: [UInt8] = []
    private var hasEnded = false
    private var isLate = false
    private var error: Int32?
    private(set) var isClosed = false
    private weak var other: MemoryTransport?
    private weak var watcher: (any Watcher)?
    private weak var loop: EventLoop?
    private let started: (any Watcher) -> Void

    /// Makes an end; `started` is told who watches it.
    init(started: @escaping (any Watcher) -> Void = { _ in }) {
        self.started = started
    }

    /// Makes both ends of a connection known to each other.
    static func join(_ one: MemoryTransport, _ other: MemoryTransport) {
        one.other = other
        other.other = one
    }

    /// Tells the watcher what it wants to know.
    func report() {
        guard let loop, !isClosed else { return }
        loop.timers.touch(loop.clock.now)
        if watchesRead, !isLate, !arrived.isEmpty || hasEnded || error != nil { watcher?.readable() }
        isLate = false
        guard watchesWrite, !isClosed else { return }
        switch connect {
        case .pending: return
        case .failed: watcher?.writable()
        case .done: if canSend { watcher?.writable() }
        }
    }

    /// Breaks the connection: what the other end has not read yet is lost to it.
    func reset() {
        isClosed = true
        other?.arrived = []
        other?.error = ECONNRESET
    }

    /// Lets the next write of the other end fail before it notices what this end has sent, which it can still read.
    func rejectMore() {
        isClosed = true
        other?.hasEnded = true
        other?.isLate = true
    }

    private var canSend: Bool {
        guard let other, !other.isClosed, error == nil else { return true }
        return other.arrived.count < other.room
    }

    // MARK: Transport

    func start(on loop: EventLoop, watcher: any Watcher) {
        self.loop = loop
        self.watcher = watcher
        watchesRead = true
        started(watcher)
    }

    func receive(into queue: ByteQueue, room: Int) -> Transfer {
        guard arrived.isEmpty else {
            let count = min(room, arrived.count)
            queue.append(arrived.span.extracting(0..<count))
            arrived.removeFirst(count)
            return .bytes(count)
        }
        if let error { return .failed(error) }
        return hasEnded || other == nil ? .end : .notNow
    }

    func send(_ bytes: Span<UInt8>) -> Transfer {
        if let error { return .failed(error) }
        guard let other, !other.isClosed else { return .failed(EPIPE) }
        guard other.takesUntilReset > 0 else {
            other.isClosed = true
            hasEnded = true
            return .failed(ECONNRESET)
        }
        other.takesUntilReset -= 1
        let count = min(bytes.count, max(0, other.room - other.arrived.count))
        guard count > 0 else { return .notNow }
        other.arrived += bytes.extracting(0..<count).array
        return .bytes(count)
    }

    var isHungUp: Bool { hasEnded || error != nil }

    func endSending() {
        other?.hasEnded = true
    }

    func close() {
        guard !isClosed else { return }
        if resetsOnClose { return reset() }
        isClosed = true
        if arrived.isEmpty { other?.hasEnded = true } else { other?.error = ECONNRESET }
    }

    var connectError: Int32 {
        if case .failed(let errno) = connect { errno } else { 0 }
    }
}
