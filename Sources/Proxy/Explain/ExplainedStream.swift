internal import Bytes
internal import HTTP
internal import RPC
internal import Time

/// The caller of a call that is only explained: keeps what it is answered.
final class ExplainedStream: HTTPStream {
    var heldBytes: Int { 0 }
    var waitsSince: Instant { .max }
    let version: HTTPVersion
    /// The status of the response; 0 as long as there is none.
    private(set) var status = 0
    private(set) var fields: [(name: [UInt8], value: [UInt8])] = []
    private(set) var body: [UInt8] = []
    private(set) var trailers: [(name: [UInt8], value: [UInt8])] = []
    /// Whether the call was broken off.
    private(set) var wasReset = false

    /// Called when the response has come whole, or was broken off.
    var ended: () -> Void = {}

    init(_ version: HTTPVersion) {
        self.version = version
    }

    /// The messages of a body in envelopes, and what ends it.
    static func envelopes(in body: [UInt8]) -> [(flags: UInt8, payload: [UInt8])] {
        var (rest, envelopes) = (body[...], [(flags: UInt8, payload: [UInt8])]())
        while rest.count >= Envelope.size, let flags = rest.popFirst() {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            envelopes.append((flags, Array(rest.dropFirst(4).prefix(length))))
            rest = rest.dropFirst(4 + length)
        }
        return envelopes
    }

    func send(informational head: HTTPHead) {}

    func send(head: HTTPHead, end: Bool) {
        status = head.status
        fields = head.pairs
        if end { ended() }
    }

    func send(body: Span<UInt8>) {
        self.body += body.array
    }

    func sendEnd(trailers: HTTPHead?) {
        self.trailers = trailers?.pairs ?? []
        ended()
    }

    func reset(_ reason: HTTPReset) {
        wasReset = true
        ended()
    }

    func pause(_ reason: PauseReason) {}
    func resume(_ reason: PauseReason) {}
    var queuedBytes: Int { 0 }
    var isCrowded: Bool { false }
}
