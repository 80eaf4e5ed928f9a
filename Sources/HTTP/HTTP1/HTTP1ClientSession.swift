package import Bytes
package import Time

/// A connection to an HTTP/1.1 upstream: one exchange after the other.
///
/// ```
/// idle → open(user) → writing the request ─┐ (both done) → idle, or closed
///                   → reading the response ─┘
/// ```
package final class HTTP1ClientSession: HTTPClientSession, HTTPStream {
    /// What waits here waits for the one exchange that there is.
    package var holdsMuch: Bool { false }

    private enum Writing { case head, body, done }
    private enum Life { case open, draining, closed }
    private enum Reading { case nothing, head, body, done }

    private let owner: any HTTPClientOwner
    private let output: ByteQueue
    private let heads: HTTPHeadPool
    private let limits: HTTPLimits

    private var writing = Writing.done
    private var reading = Reading.nothing
    /// Reads the head, and then the trailer section.
    private var parser = HTTP1HeadParser(.response)
    private var decoder = HTTP1BodyDecoder(.none)
    private var encoder = HTTP1BodyEncoder(.none)
    /// The head, or the trailer section, that has come in part.
    private var head: HTTPHead?
    private var user: (any HTTPStreamUser)?
    private var pauses: PauseReason = []
    private var isHEAD = false
    private var endsWithConnection = false
    private var persists = true
    private var hasJustEnded = false
    private var life = Life.open

    /// Makes the session of a new connection.
    package init(owner: any HTTPClientOwner, output: ByteQueue, heads: HTTPHeadPool, limits: HTTPLimits) {
        self.owner = owner
        self.output = output
        self.heads = heads
        self.limits = limits
    }

    /// Begins an exchange; the session must be idle.
    ///
    /// What arrives is told to `user`.
    package func open(for user: any HTTPStreamUser) -> any HTTPStream {
        precondition(!isBusy && life != .closed)
        self.user = user
        writing = .head
        reading = .head
        parser = HTTP1HeadParser(.response)
        persists = life == .open
        pauses = []
        return self
    }

    /// HTTP/1.1 has nothing to ask.
    package func ping() -> Bool { true }
    package var isPinging: Bool { false }

    /// What is not HTTP/1.1 is found out by the first response.
    package var isForeign: Bool { false }

    /// What is sent goes into the output at once.
    package func fillOutput() {}

    /// A server of HTTP/1.1 says nothing before it is asked.
    package var isReady: Bool { true }

    /// One, while the session is idle.
    package var room: Int { isBusy || isRetired ? 0 : 1 }

    /// Whether the connection ends with the exchange under way.
    package var isRetired: Bool { life != .open }

    // MARK: HTTPSession

    package var isBusy: Bool {
        if case .nothing = reading { return false }
        return life != .closed
    }

    package func receive(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        do throws(HTTPError) {
            while position < bytes.count, life != .closed {
                guard pauses.isEmpty else { return position }
                switch reading {
                case .nothing, .done: throw .unexpectedBytes
                case .head:
                    // What comes before the request has been sent cannot be the response to it.
                    if case .head = writing { throw .unexpectedBytes }
                    guard try readHead(bytes, &position) else { return position }
                case .body: guard try readBody(bytes, &position) else { return position }
                }
            }
        } catch {
            close(reporting: .error(error))
        }
        guard life != .closed else { return bytes.count }
        // Only now: bytes behind the response must not become the response to whatever is opened next.
        if hasJustEnded {
            hasJustEnded = false
            owner.sessionHasRoom()
        }
        return position
    }

    package var isHoldingBack: Bool { !pauses.isEmpty }

    package func receiveEnd(errno: Int32?) {
        guard life != .closed else { return }
        if case .body = reading, endsWithConnection, errno == nil {
            persists = false
            return endResponse()
        }
        close(reporting: .connectionLost(errno: errno))
    }

    package func outputDrained() {
        user?.drained()
    }

    package func drain() {
        if life == .open { life = .draining }
        persists = false
        if !isBusy { close(reporting: nil) }
    }

    // MARK: Reading

    private func readHead(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) -> Bool {
        let head = self.head ?? heads.acquire()
        self.head = head
        guard try parser.parse(bytes, from: &position, into: head, within: limits) else { return false }
        // Nobody asked for an upgrade, so 101 is no response to anything.
        guard head.status != 101 else { throw .statusLine }
        self.head = nil
        if head.status < 200 {
            // All interim responses and the final one share one limit, or they could go on for ever.
            parser = HTTP1HeadParser(.response, taken: parser.taken)
            head.contentLength = nil
            user?.received(informational: head)
            heads.release(head)
        } else {
            begin(head, parser.connection)
        }
        return true
    }

    private func begin(_ head: HTTPHead, _ connection: HTTP1HeadParser.Connection) {
        if connection.close || connection.isOld && !connection.keepAlive { persists = false }
        let framing = framing(of: head, chunked: connection.chunked)
        endsWithConnection = framing == .untilEnd
        decoder = HTTP1BodyDecoder(framing)
        let end = decoder.hasEnded
        reading = end ? .done : .body
        user?.received(head: head, end: end)
        if end, life != .closed { finishResponse() }
    }

    private func framing(of head: HTTPHead, chunked: Bool) -> HTTP1Framing {
        if isHEAD || head.status == 204 || head.status == 304 { return .none }
        if chunked { return .chunked }
        return head.contentLength.map { .length($0) } ?? .untilEnd
    }

    private func readBody(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) -> Bool {
        if decoder.mayHaveTrailers, head == nil { head = heads.acquire() }
        switch try decoder.next(bytes, from: &position, trailers: head, by: &parser, within: limits) {
        case .more:
            return false
        case .data(let from, let to):
            user?.received(body: bytes.extracting(from..<to))
            if life != .closed, decoder.hasEnded { endResponse() }
        case .end:
            endResponse()
        }
        return true
    }

    private func endResponse() {
        reading = .done
        let trailers = head
        head = nil
        user?.receivedEnd(trailers: trailers?.count ?? 0 > 0 ? trailers : nil)
        if let trailers { heads.release(trailers) }
        finishResponse()
    }

    /// Ends the exchange.
    ///
    /// An upstream that has responded before it had the whole request does not get the rest, and its connection is of
    /// no use any more.
    private func finishResponse() {
        guard life != .closed else { return }
        user = nil
        pauses = []
        guard case .done = writing, persists else { return close(reporting: nil) }
        reading = .nothing
        hasJustEnded = true
    }

    // MARK: HTTPStream

    package var version: HTTPVersion { .http1 }

    package var queuedBytes: Int { output.count }

    /// There is nobody else.
    package var isCrowded: Bool { false }

    package var heldBytes: Int { output.capacity }

    package var waitsSince: Instant { owner.lastWritten }

    package func send(informational head: HTTPHead) {}

    package func send(head: HTTPHead, end: Bool) {
        guard case .head = writing else { return }
        isHEAD = head.method.equals("HEAD")
        let framing: HTTP1Framing = end ? .none : head.contentLength.map { .length($0) } ?? .chunked
        HTTP1Writer.write(request: head, framing: framing, to: output)
        encoder = HTTP1BodyEncoder(framing)
        writing = end ? .done : .body
        owner.sessionHasOutput()
    }

    package func send(body: Span<UInt8>) {
        guard case .body = writing else { return }
        let count = encoder.begin(body.count, to: output)
        if count < body.count, encoder.hasBody { persists = false }
        owner.sessionSends(body.extracting(0..<count))
        encoder.end(count, to: output)
    }

    package func sendEnd(trailers: HTTPHead?) {
        guard case .body = writing else { return }
        // An upstream that waits for the rest of a body would take the next request for it.
        guard encoder.writeEnd(trailers: trailers, to: output) else { return close(reporting: .canceled) }
        owner.sessionHasOutput()
        writing = .done
    }

    package func reset(_ reason: HTTPReset) {
        user = nil
        close(reporting: nil)
    }

    package func pause(_ reason: PauseReason) {
        pauses.insert(reason)
    }

    package func resume(_ reason: PauseReason) {
        guard !pauses.isEmpty else { return }
        pauses.remove(reason)
        if pauses.isEmpty { owner.sessionNeedsInput() }
    }

    private func close(reporting reset: HTTPReset?) {
        guard life != .closed else { return }
        life = .closed
        if let head { heads.release(head) }
        head = nil
        let user = user
        self.user = nil
        reading = .done
        writing = .done
        owner.sessionEnded(.orderly)
        if let reset { user?.wasReset(reset) }
    }
}
