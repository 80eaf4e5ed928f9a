internal import Events
internal import HTTP
internal import Time

/// The streams that the admin sockets serve; nothing is paid while there are none.
final class AdminStreams {
    /// How many there may be at once.
    static let maxCount = 16

    private var open: [ObjectIdentifier: LineStream] = [:]

    /// The number of streams.
    var count: Int { open.count }

    /// How long a reader may take nothing before another may have its place.
    private static let patience = 60 * Duration.second

    /// Whether there may be no more; readers that take nothing lose their streams first.
    var isFull: Bool {
        guard open.count >= Self.maxCount else { return false }
        let limit = Clock.system.now - Self.patience
        for lines in Array(open.values) where lines.waitsSince < limit { lines.reset() }
        return open.count >= Self.maxCount
    }

    /// Makes a stream on an exchange whose head has been sent, and keeps it until it is closed.
    func begin(on stream: any HTTPStream) -> LineStream {
        let lines = LineStream(on: stream)
        let id = ObjectIdentifier(lines)
        open[id] = lines
        lines.onClose = { [unowned self] in open[id] = nil }
        return lines
    }

    /// Ends all streams.
    func endAll() {
        for lines in Array(open.values) { lines.end() }
    }
}
