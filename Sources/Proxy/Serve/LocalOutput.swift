internal import Bytes
internal import Events
internal import HTTP
internal import Time

/// What a service in this process sends: a part of a response.
enum LocalOutput {
    case head(HTTPHead, end: Bool)
    case body([UInt8])
    case end(trailers: HTTPHead?)

    /// Whether nothing comes after it.
    var isLast: Bool {
        switch self {
        case .head(_, let end): end
        case .body: false
        case .end: true
        }
    }

    /// About how many bytes it takes on a connection.
    fileprivate var size: Int {
        switch self {
        case .head(let head, _): Self.size(head)
        case .body(let bytes): bytes.count
        case .end(let trailers): trailers.map(Self.size) ?? 0
        }
    }

    private static func size(_ head: HTTPHead) -> Int {
        head.pairs.reduce(17) { $0 + $1.name.count + $1.value.count + 4 }
    }
}

/// Sends what a service sends at the speed of a slow network.
///
/// Belongs to the worker's thread.
final class LocalPace {
    private let bytesPerSecond: Int
    private let loop: EventLoop
    private let send: (LocalOutput) -> Void
    private var waiting: [LocalOutput] = []
    /// How much of the first one, which is a body, has been sent.
    private var offset = 0
    private var timer: Timer?
    /// When the first part was ready, and how much of the time since then has been used.
    private var start = Instant.start
    private var sent = 0

    /// Hands on the parts of a response by `send`.
    init(_ bytesPerSecond: Int, on loop: EventLoop, send: @escaping (LocalOutput) -> Void) {
        (self.bytesPerSecond, self.loop, self.send) = (bytesPerSecond, loop, send)
    }

    /// Whether parts wait.
    var isBusy: Bool { !waiting.isEmpty }

    /// Sends a part when those before it have been sent, and time for it has passed.
    func add(_ output: LocalOutput) {
        if waiting.isEmpty { (start, sent) = (loop.now, 0) }
        waiting.append(output)
        if timer == nil { wait() }
    }

    /// Sends no more.
    func cancel() {
        timer.take()?.cancel()
        (waiting, offset) = ([], 0)
    }

    private func wait() {
        guard let first = waiting.first else { return }
        let timer = self.timer ?? Timer(on: loop.timers) { [unowned self] in advance() }
        self.timer = timer
        // A body goes in parts, so that its reader sees it come.
        let left = first.size - offset
        let part: Int = if case .body = first { min(left, max(1, bytesPerSecond / 20)) } else { left }
        timer.arm(at: start + time(for: sent + part))
    }

    private func time(for bytes: Int) -> Duration { bytes * .second / bytesPerSecond }

    private func advance() {
        var budget = Int((loop.now - start).nanoseconds / 1000) * bytesPerSecond / 1_000_000 - sent
        while let first = waiting.first {
            let left = first.size - offset
            guard case .body(let bytes) = first else {
                guard left <= budget else { break }
                waiting.removeFirst()
                (sent, budget) = (sent + left, budget - left)
                send(first)
                continue
            }
            let count = min(left, budget)
            guard count > 0 else { break }
            let part = Array(bytes[offset..<offset + count])
            (sent, budget, offset) = (sent + count, budget - count, offset + count)
            if offset == bytes.count {
                waiting.removeFirst()
                offset = 0
            }
            send(.body(part))
        }
        wait()
    }
}
