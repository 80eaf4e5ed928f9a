public import Bytes

/// A caller's HTTP/1.1 connection: one exchange after the other.
///
/// ```
/// reading: head → body → done ─┐  (both done) → head of the next, or closed
/// writing: head → body → done ─┘
/// ```
/// A request that follows too early (pipelining) is left in the owner's hands until the answer before it is sent.
public final class HTTP1ServerSession: HTTPSession, HTTPStream {
    private enum Reading { case head, body, done }
    private enum Writing { case head, body(HTTP1Framing), done }

    private let owner: any HTTPServerOwner
    private let output: ByteQueue
    private let heads: HTTPHeadPool
    private let limits: HTTPLimits

    private var reading = Reading.head
    private var writing = Writing.done
    private var parser: HTTP1HeadParser
    private var decoder: HTTP1BodyDecoder
    private var head: HTTPHead?
    private var user: (any HTTPStreamUser)?
    private var pauses: PauseReason = []
    private var discarded = 0
    private var isOld = false
    private var isHEAD = false
    private var expectsContinue = false
    private var persists = true
    private var draining = false
    private var closed = false

    /// Makes the session of a connection that has just been accepted.
    public init(owner: any HTTPServerOwner, output: ByteQueue, heads: HTTPHeadPool, limits: HTTPLimits) {
        self.owner = owner
        self.output = output
        self.heads = heads
        self.limits = limits
        parser = HTTP1HeadParser(.request, limits: limits)
        decoder = HTTP1BodyDecoder(.none, limits: limits)
    }

    /// Whether a head has come in part.
    public var isReadingHead: Bool { head != nil || parser.hasBegun }

    // MARK: HTTPSession

    public var isBusy: Bool {
        if case .done = writing, case .head = reading { return false }
        return !closed
    }

    public func receive(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        do throws(HTTPFault) {
            while position < bytes.count, !closed {
                switch reading {
                case .head:
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
        return closed ? bytes.count : position
    }

    public func receiveEnd(errno: Int32?) {
        guard !closed else { return }
        let user = user
        close(lingering: false)
        user?.wasReset(.connectionLost(errno: errno))
    }

    public func outputDrained() {
        user?.drained()
    }

    public func drain() {
        draining = true
        persists = false
        guard !isBusy, !isReadingHead else { return }
        close(lingering: false)
    }

    /// Refuses a request whose head did not arrive in time.
    public func headTimedOut() {
        fail(.headTimeout)
    }

    // MARK: Reading

    private func readHead(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPFault) -> Bool {
        let head = self.head ?? heads.take()
        self.head = head
        guard try parser.parse(bytes, from: &position, into: head) else { return false }
        self.head = nil
        open(head)
        return true
    }

    private func open(_ head: HTTPHead) {
        let connection = parser.connection
        parser = HTTP1HeadParser(.request, limits: limits)
        isOld = connection.isOld
        persists = !draining && !connection.close && (!isOld || connection.keepAlive)
        isHEAD = head.method.equals("HEAD")
        expectsContinue = head.expectsContinue && !isOld
        let framing: HTTP1Framing = connection.chunked ? .chunked : head.contentLength.map { .length($0) } ?? .none
        decoder = HTTP1BodyDecoder(framing, limits: limits)
        discarded = 0
        writing = .head
        let end = decoder.hasEnded
        reading = end ? .done : .body
        let user = owner.sessionOpened(self, head: head, end: end)
        // The user may have answered at once, and then it has been told all it will be told.
        if case .done = writing { return }
        self.user = user
    }

    private func readBody(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPFault) -> Bool {
        let trailers = head ?? heads.take()
        head = trailers
        let piece = try decoder.next(bytes, from: &position, trailers: trailers)
        switch piece {
        case .more:
            return false
        case .data(let from, let to):
            expectsContinue = false
            deliver(bytes.extracting(from..<to))
            if case .body = reading, decoder.hasEnded { endRequest(trailers: nil) }
        case .end:
            endRequest(trailers: trailers.count > 0 ? trailers : nil)
        }
        return true
    }

    private func deliver(_ bytes: Span<UInt8>) {
        if let user { return user.received(body: bytes) }
        discarded += bytes.count
        if discarded > limits.discard { close(lingering: true) }
    }

    private func endRequest(trailers: HTTPHead?) {
        reading = .done
        user?.receivedEnd(trailers: trailers)
        if let head { heads.give(head) }
        head = nil
        finishIfDone()
    }

    private func fail(_ fault: HTTPFault) {
        persists = false
        if let head { heads.give(head) }
        head = nil
        reading = .done
        if case .head = writing, user == nil { return close(lingering: true) }
        if case .done = writing {
            guard !isBusyWithDiscarding else { return close(lingering: true) }
            writing = .head
            return owner.sessionRefused(self, fault)
        }
        let user = user
        user?.wasReset(.fault(fault))
    }

    /// The answer has been sent, and what fails is the rest of a request nobody waits for.
    private var isBusyWithDiscarding: Bool { discarded > 0 }

    // MARK: HTTPStream

    public var queuedBytes: Int { output.count }

    public func send(informational head: HTTPHead) {
        guard case .head = writing, !isOld else { return }
        if head.status == 100 { expectsContinue = false }
        HTTP1Writer.write(answer: head, framing: .none, persistence: "", to: output)
        owner.sessionHasOutput()
    }

    public func send(head: HTTPHead, end: Bool) {
        guard case .head = writing else { return }
        // Nobody said 100 Continue, so the caller may or may not send the body: only a new connection is certain.
        if expectsContinue || draining { persists = false }
        let framing = framing(of: head, end: end)
        if framing == .untilEnd { persists = false }
        let persistence: StaticString =
            persists ? (isOld ? "connection: keep-alive\r\n" : "") : "connection: close\r\n"
        HTTP1Writer.write(answer: head, framing: framing, persistence: persistence, to: output)
        owner.sessionHasOutput()
        writing = .body(framing)
        if end { finishAnswer() }
    }

    private func framing(of head: HTTPHead, end: Bool) -> HTTP1Framing {
        if isHEAD || head.status == 204 || head.status == 304 { return .none }
        if let length = head.contentLength { return .length(length) }
        if end { return .length(0) }
        return isOld ? .untilEnd : .chunked
    }

    public func send(body: Span<UInt8>) {
        guard case .body(let framing) = writing, body.count > 0 else { return }
        switch framing {
        case .none: return
        case .chunked: HTTP1Writer.write(chunk: body, to: output)
        case .length, .untilEnd: output.append(body)
        }
        owner.sessionHasOutput()
    }

    public func sendEnd(trailers: HTTPHead?) {
        guard case .body(let framing) = writing else { return }
        if framing == .chunked {
            HTTP1Writer.write(lastChunkWith: trailers, to: output)
            owner.sessionHasOutput()
        }
        finishAnswer()
    }

    private func finishAnswer() {
        writing = .done
        user = nil
        pauses = []
        if case .body = reading { owner.sessionWantsInput() }
        finishIfDone()
    }

    public func reset(_ reason: HTTPReset) {
        user = nil
        close(lingering: false)
    }

    public func pause(_ reason: PauseReason) {
        pauses.insert(reason)
    }

    public func resume(_ reason: PauseReason) {
        guard !pauses.isEmpty else { return }
        pauses.remove(reason)
        if pauses.isEmpty { owner.sessionWantsInput() }
    }

    // MARK: The end of an exchange

    private func finishIfDone() {
        guard !closed, case .done = writing else { return }
        guard persists else { return close(lingering: true) }
        guard case .done = reading else { return }
        reading = .head
        owner.sessionBecameIdle()
        owner.sessionWantsInput()
    }

    private func close(lingering: Bool) {
        guard !closed else { return }
        closed = true
        user = nil
        if let head { heads.give(head) }
        head = nil
        owner.sessionEnded(lingering: lingering)
    }
}
