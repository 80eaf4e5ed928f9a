internal import Bytes
internal import Time

@testable internal import HTTP

/// Our end of an HTTP/2 connection, on either side, and what it is told.
final class HTTP2End: HTTPServerOwner, HTTPClientOwner {
    private(set) var logs: [StreamLog] = []
    private(set) var hasEnded = false
    let output = ByteQueue()
    private let choice: UInt8
    private(set) var session: HTTP2Session?
    let now = Instant.start + .second
    private let before = Memory.allocated

    /// What is told on one side of a connection.
    struct Reading: Equatable {
        var reported: [String]
        var hasEnded: Bool
    }

    init(isServer: Bool, choice: UInt8) {
        self.choice = choice
        let resources = HTTP2Resources(heads: HTTPHeadPool(), queues: ByteQueuePool())
        let limits = HTTPLimits()
        session =
            isServer
            ? HTTP2ServerSession(owner: self, output: output, resources: resources, limits: limits)
            : HTTP2ClientSession(owner: self, output: output, resources: resources, limits: limits, isSecure: false)
    }

    /// Reads the frames, and ends in an orderly way.
    func read(_ frames: [UInt8], _ cuts: Cuts) -> Reading {
        guard let session else { return Reading(reported: [], hasEnded: true) }
        if let client = session as? HTTP2ClientSession {
            let settings = Frames.settings
            _ = session.receive(settings.span)
            for _ in 0..<min(3, client.room) { ask(client) }
            flush()
        } else {
            let preface = Frames.preface
            _ = session.receive(preface.span)
        }
        cuts.apply(to: frames.span) { piece in
            var taken = 0
            while taken < piece.count, !hasEnded {
                let more = session.receive(piece.extracting(taken...))
                demand(more == piece.count - taken || hasRunLong && more > 0, "a session takes all there is, by and by")
                taken += more
            }
            flush()
        }
        let reading = Reading(reported: logs.map(\.reported), hasEnded: hasEnded)
        if choice & 4 != 0 { for log in logs { log.stream?.resume(.slowPeer) } }
        if choice & 8 != 0 { session.drain() }
        if choice & 16 != 0 { for log in logs { log.stream?.reset(.canceled) } }
        flush()
        session.receiveEnd(errno: nil)
        demand(hasEnded, "the end of a connection is the end of its session")
        demand(logs.allSatisfy { $0.isWhole || $0.isReset || choice & 16 != 0 }, "every user is told the end")
        for log in logs { log.stream = nil }
        self.session = nil
        return reading
    }

    /// Takes what is to be sent.
    private func flush() {
        session?.fillOutput()
        demand(output.count < 1 << 20, "what waits to be sent has its limit")
        demand(Memory.allocated - before < 16 << 20, "a connection has its limit")
        if choice & 2 == 0 {
            output.removeAll()
            session?.outputDrained()
        }
    }

    private func ask(_ client: HTTP2ClientSession) {
        let log = StreamLog(nil, responds: false)
        logs.append(log)
        let head = HTTPHead()
        head.setMethod(Array("GET".utf8).span)
        head.setTarget([UInt8(ascii: "/")].span)
        head.setAuthority([UInt8(ascii: "a")].span)
        let stream = client.open(for: log)
        log.stream = stream
        stream.send(head: head, end: true)
    }

    // MARK: HTTPServerOwner

    func sessionOpened(_ stream: any HTTPStream, head: HTTPHead, end: Bool) -> any HTTPStreamUser {
        let log = StreamLog(stream, responds: true)
        logs.append(log)
        if choice & 4 != 0 { stream.pause(.slowPeer) }
        log.opened(head, end: end)
        return log
    }

    func sessionRejected(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?) {
        let response = HTTPHead()
        response.status = error.status
        stream.send(head: response, end: true)
    }

    func sessionEnded(_ end: SessionEnd) {
        demand(!hasEnded, "a session ends once")
        hasEnded = true
    }

    func sessionDiscards() {}
    func sessionBecameIdle() {}
    func sessionHasOutput() {}
    func sessionSends(_ body: Span<UInt8>) {}
    func sessionNeedsInput() {}
    func sessionYields() {}
    var hasRunLong: Bool { choice & 32 != 0 }
    var lastWritten: Instant { .max }
    func sessionExceeded(_ limit: HTTP2Limit) {}
    func sessionHasRoom() {}
    func sessionSpentResets() {}
}
