package import Bytes
package import Time

/// A caller's HTTP/1.1 connection: one exchange after the other.
///
/// ```
/// reading: head → body → done ─┐  (both done) → head of the next, or closed
/// writing: head → body → done ─┘
/// ```
/// A request that follows too early (pipelining) is left in the owner's hands until the response before it is sent.
package final class HTTP1ServerSession: HTTPServerSession, HTTPStream {
    private enum Reading { case head, body, done }
    private enum Writing { case head, body, done }
    private enum Life { case open, draining, closed }

    private struct Exchange {
        /// It is of HTTP/1.0.
        var isOld = false
        var isHEAD = false
        /// The caller waits for `100 Continue`.
        var expectsContinue = false
    }

    /// How much of the responses may wait before no further request is begun, however many have been sent ahead.
    private static let maxQueued = 256 * 1024

    /// Whose connection it is; nil between two connections.
    private var owner: (any HTTPServerOwner)?
    private var output: ByteQueue
    private var limits: HTTPLimits
    private let heads: HTTPHeadPool

    private var reading = Reading.head
    private var writing = Writing.done
    /// Reads the head, and then the trailer section.
    private var parser = HTTP1HeadParser(.request)
    private var decoder = HTTP1BodyDecoder(.none)
    private var encoder = HTTP1BodyEncoder(.none)
    /// The head, or the trailer section, that has come in part.
    private var head: HTTPHead?
    private var user: (any HTTPStreamUser)?
    private var pauses: PauseReason = []
    private var discarded = 0
    /// What the request says of the exchange.
    private var exchange = Exchange()
    /// Whether another request may follow.
    private var persists = true
    private var isHeldBack = false
    private var life = Life.open

    /// Makes a session at rest.
    package init(owner: any HTTPServerOwner, output: ByteQueue, heads: HTTPHeadPool, limits: HTTPLimits) {
        self.owner = owner
        self.output = output
        self.heads = heads
        self.limits = limits
    }

    /// Whether nothing is left of one exchange, and nothing has come of another.
    ///
    /// What the session still knows of the last one is set anew before it is looked at, so that it can serve any connection.
    package var isAtRest: Bool {
        if case .head = reading { head == nil && !isBusy && !isHeldBack && life == .open } else { false }
    }

    /// Goes on for another connection; the session must be at rest.
    func attach(to owner: any HTTPServerOwner, output: ByteQueue, limits: HTTPLimits) {
        self.owner = owner
        self.output = output
        self.limits = limits
        pauses = []
    }

    /// Leaves its connection; whoever still holds the session reaches nobody.
    func detach() {
        owner = nil
    }

    /// Whether a head has come in part.
    package var isReadingHead: Bool {
        if case .head = reading { head != nil } else { false }
    }

    /// Does nothing: the owner ends the connection, which has no other exchange.
    package func endStalled(since time: Instant) {}

    package func timeOutBody(of stream: any HTTPStream) {
        if case .body = reading { fail(.bodyTimeout) }
    }

    /// The rest of a request cannot be rejected without the connection, which its owner ends in time.
    package func endDiscarding(since time: Instant) -> Bool { false }

    // MARK: HTTPSession

    /// What is sent goes into the output at once.
    package func fillOutput() {}

    package var isBusy: Bool {
        if case .done = writing, case .head = reading { return false }
        return life != .closed
    }

    package func receive(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        do throws(HTTPError) {
            while position < bytes.count, life != .closed {
                switch reading {
                case .head:
                    guard output.count <= Self.maxQueued else {
                        isHeldBack = true
                        return position
                    }
                    guard try readHead(bytes, &position) else { return position }
                case .body:
                    guard pauses.isEmpty, try readBody(bytes, &position) else { return position }
                case .done:
                    return position
                }
            }
        } catch {
            fail(error)
        }
        return life == .closed ? bytes.count : position
    }

    package var isHoldingBack: Bool {
        switch reading {
        case .head: isHeldBack
        case .body: !pauses.isEmpty
        case .done: true
        }
    }

    package func receiveEnd(errno: Int32?) {
        guard life != .closed else { return }
        let user = user
        close(.orderly)
        user?.wasReset(.connectionLost(errno: errno))
    }

    package func outputDrained() {
        user?.drained()
        guard isHeldBack else { return }
        isHeldBack = false
        owner?.sessionNeedsInput()
    }

    /// The exchange under way is the last.
    private func retire() {
        if life == .open { life = .draining }
    }

    package func announceClose() {
        // A response whose head is out did not say it, so `persists` stays as it is, and the next response says it.
        retire()
    }

    package func drain() {
        retire()
        persists = false
        guard !isBusy, !isReadingHead else { return }
        close(.orderly)
    }

    /// Ends the exchange under way, which the user may still respond to, and with it the connection.
    package func abandon() {
        persists = false
        retire()
        let user = user
        self.user = nil
        user?.wasReset(.shutdown)
        close(.orderly)
    }

    /// Rejects a request whose head did not arrive in time.
    package func headTimedOut() {
        if isReadingHead { fail(.headTimeout) }
    }

    package var unfinishedHeadBytes: Int { isReadingHead ? parser.taken : 0 }

    package func rejectHead() {
        if isReadingHead { fail(.outOfMemory) }
    }

    // MARK: Reading

    private func readHead(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) -> Bool {
        let head = self.head ?? heads.acquire()
        self.head = head
        guard try parser.parse(bytes, from: &position, into: head, within: limits) else { return false }
        self.head = nil
        open(head)
        return true
    }

    private func open(_ head: HTTPHead) {
        let connection = parser.connection
        let isOld = connection.isOld
        persists = life == .open && !connection.close && (!isOld || connection.keepAlive)
        if isOld { head.expectsContinue = false }
        exchange = Exchange(
            isOld: isOld,
            isHEAD: head.method.equals("HEAD"),
            expectsContinue: head.expectsContinue
        )
        let framing: HTTP1Framing = connection.chunked ? .chunked : head.contentLength.map { .length($0) } ?? .none
        decoder = HTTP1BodyDecoder(framing)
        discarded = 0
        writing = .head
        let end = decoder.hasEnded
        reading = end ? .done : .body
        let user = owner?.sessionOpened(self, head: head, end: end)
        // The user may have responded or reset at once, and then it has been told all it will be told.
        if case .done = writing { return }
        self.user = user
    }

    private func readBody(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) -> Bool {
        if decoder.mayHaveTrailers, head == nil { head = heads.acquire() }
        switch try decoder.next(bytes, from: &position, trailers: head, by: &parser, within: limits) {
        case .more:
            return false
        case .data(let from, let to):
            exchange.expectsContinue = false
            deliver(bytes.extracting(from..<to))
            if life != .closed, decoder.hasEnded { endRequest() }
        case .end:
            endRequest()
        }
        return true
    }

    private func deliver(_ bytes: Span<UInt8>) {
        if case .done = writing {
            discarded += bytes.count
            guard discarded <= limits.discard else { return close(.lingering) }
        }
        user?.received(body: bytes)
    }

    private func endRequest() {
        reading = .done
        let trailers = head
        head = nil
        user?.receivedEnd(trailers: trailers?.count ?? 0 > 0 ? trailers : nil)
        if let trailers { heads.release(trailers) }
        finishIfDone()
    }

    private func fail(_ error: HTTPError) {
        persists = false
        if case .head = reading { return reject(error) }
        reading = .done
        let user = user
        self.user = nil
        user?.wasReset(.error(error))
        // What the user has not answered by now, or what nobody waited for any more, is not answered.
        close(.lingering)
    }

    /// Has a request rejected that has not begun, as far as it is known.
    private func reject(_ error: HTTPError) {
        reading = .done
        writing = .head
        exchange = Exchange(isOld: parser.connection.isOld)
        let head = head
        self.head = nil
        if let head { exchange.isHEAD = head.method.equals("HEAD") }
        owner?.sessionRejected(self, error, head: head)
        if let head { heads.release(head) }
    }

    // MARK: HTTPStream

    package var version: HTTPVersion { .http1 }

    package var queuedBytes: Int { output.count }

    /// There is nobody else.
    package var isCrowded: Bool { false }

    package var heldBytes: Int { output.capacity }

    package var waitsSince: Instant { owner?.lastWritten ?? .max }

    package var isPaused: Bool { !pauses.isEmpty }

    package var hasContinued: Bool { !exchange.expectsContinue }

    package func forEachExchange(_ body: (any HTTPStream, (any HTTPStreamUser)?) -> Void) {
        if isBusy { body(self, user) }
    }

    package func send(informational head: HTTPHead) {
        guard case .head = writing, !exchange.isOld else { return }
        if head.status == 100 { exchange.expectsContinue = false }
        HTTP1Writer.write(response: head, framing: .none, persistence: "", to: output)
        owner?.sessionHasOutput()
    }

    package func send(head: HTTPHead, end: Bool) {
        guard case .head = writing else { return }
        // Nobody said 100 Continue, so the caller may or may not send the body: only a new connection is certain.
        if exchange.expectsContinue || life != .open { persists = false }
        let framing = framing(of: head, end: end)
        if framing == .untilEnd { persists = false }
        let persistence: StaticString =
            persists ? (exchange.isOld ? "connection: keep-alive\r\n" : "") : "connection: close\r\n"
        HTTP1Writer.write(response: head, framing: framing, persistence: persistence, to: output)
        encoder = HTTP1BodyEncoder(framing)
        owner?.sessionHasOutput()
        writing = .body
        if end { finishResponse() }
    }

    private func framing(of head: HTTPHead, end: Bool) -> HTTP1Framing {
        if exchange.isHEAD || head.status == 204 || head.status == 304 { return .none }
        if end { return .length(0) }
        if let length = head.contentLength { return .length(length) }
        return exchange.isOld ? .untilEnd : .chunked
    }

    package func send(body: Span<UInt8>) {
        guard case .body = writing else { return }
        let count = encoder.begin(body.count, to: output)
        if count < body.count, encoder.hasBody { persists = false }
        owner?.sessionSends(body.extracting(0..<count))
        encoder.end(count, to: output)
    }

    package func sendEnd(trailers: HTTPHead?) {
        guard case .body = writing else { return }
        if !encoder.writeEnd(trailers: trailers, to: output) { persists = false }
        owner?.sessionHasOutput()
        finishResponse()
    }

    private func finishResponse() {
        writing = .done
        if user?.readsOn != true {
            user = nil
            pauses = []
        }
        if case .body = reading {
            owner?.sessionNeedsInput()
            owner?.sessionDiscards()
        }
        finishIfDone()
    }

    package var isReadOn: Bool {
        if case .done = writing { user != nil } else { false }
    }

    package func reset(_ reason: HTTPReset) {
        if !isReadOn { user = nil }
        // A response that was broken off must not look like a whole one.
        if case .body = writing { close(.abort) } else { close(.orderly) }
    }

    package func pause(_ reason: PauseReason) {
        pauses.insert(reason)
    }

    package func resume(_ reason: PauseReason) {
        guard !pauses.isEmpty else { return }
        pauses.remove(reason)
        if pauses.isEmpty { owner?.sessionNeedsInput() }
    }

    // MARK: The end of an exchange

    private func finishIfDone() {
        guard life != .closed, case .done = writing else { return }
        guard persists else { return close(.lingering) }
        guard case .done = reading else { return }
        reading = .head
        (user, pauses) = (nil, [])
        parser = HTTP1HeadParser(.request)
        owner?.sessionBecameIdle()
        owner?.sessionNeedsInput()
    }

    private func close(_ end: SessionEnd) {
        guard life != .closed else { return }
        life = .closed
        // A user whose response is not complete is told by the caller of this function.
        let reader = isReadOn ? user : nil
        writing = .done
        user = nil
        if let head { heads.release(head) }
        head = nil
        owner?.sessionEnded(end)
        reader?.wasReset(.connectionLost(errno: nil))
    }
}
