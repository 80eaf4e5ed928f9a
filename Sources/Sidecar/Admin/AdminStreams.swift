internal import HTTP

/// The streams that the admin sockets serve; nothing is paid while there are none.
final class AdminStreams {
    /// How many there may be at once.
    static let maxCount = 16

    private var open: [ObjectIdentifier: LineStream] = [:]

    /// The number of streams.
    var count: Int { open.count }

    /// Whether there may be no more.
    var isFull: Bool { open.count >= Self.maxCount }

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
