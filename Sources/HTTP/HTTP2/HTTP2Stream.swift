internal import Bytes
internal import Time

/// One exchange on an HTTP/2 connection.
///
/// What the user sends waits in `outbound` until the session puts it into frames; what arrives while the user wants
/// nothing waits in `inbox`, at most a window of it.
///
/// ```
/// sending:   nothing → body → ended → sent
/// receiving: head → body → ended
/// ```
final class HTTP2Stream: HTTPStream {
    /// How far the user's message has come; the last frame of one that has ended may still have to wait.
    enum Sending: Int { case nothing, body, ended, sent }
    /// How far the peer's message has come; interim heads do not count.
    enum Receiving { case head, body, ended }
    /// Whether the message that is sent gets into the output.
    enum Output {
        /// Its head waits to be written.
        case queued
        case open
        /// nghttp2 has been told that there is nothing to send for now.
        case deferred
    }

    let session: HTTP2Session
    /// The number of the stream on its connection.
    var id: Int32
    /// Where the session keeps the stream in its list; -1 while it is not there.
    var position = -1
    var user: (any HTTPStreamUser)?

    /// What is still to be sent of the body.
    private(set) var outbound: ByteQueue?
    private(set) var sending = Sending.nothing
    var receiving = Receiving.head
    /// How large the head of the request was.
    var headBytes = 0
    /// What ends the message that is sent; once it is there, the body is followed by it.
    private(set) var trailers: HTTPHead?
    /// Whether the message that is sent gets into the output; a request that is queued is not processed by anybody.
    var output = Output.queued
    /// Whether so much has waited that the user may be waiting for it to go.
    var notifiesDrained = false
    private static let much = 64 * 1024
    /// The time at which the peer last took something, or nothing was waiting.
    var progress = Instant.start

    /// The time at which the request was sent to an upstream.
    var sentAt = Instant.start

    /// How many bytes the peer may have on their way.
    private(set) var window = HTTP2Session.streamWindow
    /// How many bytes the user has taken since the window was made as large as it is.
    private var taken = 0
    private var inbox = HTTP2Inbox()
    /// Whether an interim response has been sent.
    private(set) var hasContinued = false
    private var discarded = 0
    /// How large the interim heads were.
    var interimBytes = 0
    /// Whether what the peer sent on the stream broke the protocol.
    var isMalformed = false
    /// Whether this side has reset the stream; nghttp2 closes it only when RST_STREAM is written.
    private(set) var isReset = false
    /// The reset to send once the queued bytes are written, or `nil`.
    private(set) var laterReset: HTTPReset?

    /// The reason to report when the stream ends, if this side did not send what the peer does not accept.
    var rejection: HTTPReset?

    init(_ session: HTTP2Session, id: Int32) {
        self.session = session
        self.id = id
    }

    // MARK: HTTPStream

    var version: HTTPVersion { .http2 }

    var queuedBytes: Int { outbound?.count ?? 0 }

    var isCrowded: Bool { queuedBytes > 0 && session.waiting > HTTP2Session.maxWaiting }

    var heldBytes: Int { (outbound?.capacity ?? 0) + (inbox.body?.capacity ?? 0) }

    var waitsSince: Instant { queuedBytes > 0 ? session.waitsSince(self) : .max }

    var isPaused: Bool { !inbox.pauses.isEmpty || !inbox.isEmpty }

    var holdsEnd: Bool { inbox.endIsWaiting }

    /// Whether the user has ended what it sends.
    var hasEnded: Bool { sending.rawValue >= Sending.ended.rawValue }

    func send(informational head: HTTPHead) {
        guard sending == .nothing else { return }
        hasContinued = true
        session.submit(informational: head, on: self)
    }

    func send(head: HTTPHead, end: Bool) {
        guard sending == .nothing else { return }
        sending = end ? .ended : .body
        if end { responded() }
        progress = session.now
        session.send(head, end: end, on: self)
    }

    func send(body: Span<UInt8>) {
        guard sending == .body, body.count > 0, !isBrokenOff else { return }
        let taken = session.sendDirectly(body, on: self)
        // What was sent may have ended the stream.
        guard taken < body.count, position >= 0, !isBrokenOff else { return }
        // Taken out and put back: what stays in its place is counted once more to be used.
        let queue = outbound.take() ?? session.acquireQueue()
        if queue.isEmpty { progress = session.now }
        queue.append(body.extracting(taken..<body.count))
        let isMuch = queue.count >= Self.much
        outbound = queue
        session.waiting += body.count - taken
        if isMuch || isCrowded { notifiesDrained = true }
        session.hasData(self)
    }

    func sendEnd(trailers: HTTPHead?) {
        guard sending == .body, !isBrokenOff else { return }
        sending = .ended
        responded()
        if let trailers {
            guard session.accepts(trailers, on: self) else { return }
            self.trailers = session.copy(trailers)
        }
        session.hasEnd(self)
    }

    /// A caller that has been answered tells nothing more to whom it has called.
    private func responded() {
        guard session.isServer, user?.readsOn != true else { return }
        user = nil
        releaseInbound()
    }

    var isReadOn: Bool { session.isServer && hasEnded && user != nil }

    func reset(_ reason: HTTPReset) {
        let reader = isReadOn ? user : nil
        user = nil
        guard !mustSend(before: reason) else {
            laterReset = reason
            return releaseInbound()
        }
        resetNow(reason)
        reader?.wasReset(reason)
    }

    /// Whether this side has broken the stream off.
    var isBrokenOff: Bool { isReset || laterReset != nil }

    /// Whether a part of a response is queued that RST_STREAM, which overtakes DATA and voids HEADERS, would destroy.
    private func mustSend(before reason: HTTPReset) -> Bool {
        guard session.isServer, sending == .body, position >= 0, !isBrokenOff else { return false }
        return reason.keepsQueuedBytes && (queuedBytes > 0 || output == .queued)
    }

    /// Resets the stream, whatever of it is queued.
    func resetNow(_ reason: HTTPReset) {
        user = nil
        isReset = true
        session.reset(self, reason)
        // Not when nghttp2 closes the stream: that is after RST_STREAM is written, and a peer that reads nothing keeps that
        // waiting.
        releaseAll()
    }

    /// RST_STREAM is queued: nothing else goes out.
    func wasAbandoned() {
        isReset = true
        releaseOutbound()
    }

    func pause(_ reason: PauseReason) {
        inbox.pauses.insert(reason)
    }

    func resume(_ reason: PauseReason) {
        guard !inbox.pauses.isEmpty else { return }
        inbox.pauses.remove(reason)
        if inbox.pauses.isEmpty { deliverRest() }
    }

    // MARK: What arrives

    /// Bytes of the body have come.
    func received(_ body: Span<UInt8>) {
        guard let user else { return discard(body.count) }
        if sending == .sent, session.isServer, !mayRead(body.count) { return }
        guard inbox.pauses.isEmpty else {
            let queue = inbox.body ?? session.acquireQueue()
            inbox.body = queue
            queue.append(body)
            // Last: whoever is told may take what waits.
            return session.hold(body.count)
        }
        session.consume(body.count, of: self)
        user.received(body: body)
    }

    /// Counts bytes that the user takes.
    ///
    /// - Returns: whether the window has grown: the user has taken a whole one, and is not behind with what it took.
    func growsWindow(by count: Int) -> Bool {
        guard window < HTTP2Session.maxStreamWindow else { return false }
        taken += count
        guard taken >= Int(window), user?.isBehind == false else { return false }
        taken = 0
        window *= 2
        return true
    }

    /// Nobody wants what has come; too much of it is rejected.
    private func discard(_ count: Int) {
        session.consume(count, of: self)
        _ = mayRead(count)
    }

    /// Counts bytes of a request whose response is complete.
    ///
    /// - Returns: Whether they are within the limit. Beyond it the stream is reset.
    private func mayRead(_ count: Int) -> Bool {
        discarded += count
        guard session.isServer, discarded > session.limits.discard else { return true }
        guard sending == .sent || laterReset != nil else { return true }
        guard !isReset else { return false }
        if let laterReset { resetNow(laterReset) } else { reset(.code(.noError)) }
        return false
    }

    /// The peer has ended its message.
    func receivedEnd(trailers: HTTPHead?) {
        guard receiving != .ended else { return }
        receiving = .ended
        guard inbox.isEmpty, inbox.pauses.isEmpty else {
            inbox.endIsWaiting = true
            if let trailers, trailers.count > 0 { inbox.trailers = session.copy(trailers) }
            return
        }
        reportEnd(trailers)
    }

    /// Whether bytes wait that the user is still to be given.
    var holdsInput: Bool { inbox.endIsWaiting || !inbox.isEmpty }

    private func deliverRest() {
        guard !inbox.isBeingDelivered else { return }
        inbox.isBeingDelivered = true
        while inbox.pauses.isEmpty, let body = inbox.body, !body.isEmpty, let user {
            let count = body.count
            // Taken in whole: what is told may pause again, and then nothing is left to be told.
            user.received(body: body.readable)
            body.drop(count)
            session.release(count)
            session.consume(count, of: self)
        }
        inbox.isBeingDelivered = false
        if user == nil, let body = inbox.body {
            session.release(body.count)
            body.removeAll()
        }
        guard inbox.isEmpty, inbox.pauses.isEmpty else { return }
        if let reset = inbox.reset.take() { return end(reporting: reset) }
        if inbox.endIsWaiting {
            inbox.endIsWaiting = false
            let trailers = inbox.trailers.take()
            reportEnd(trailers)
            if let trailers { session.release(trailers) }
        }
        if position < 0 { end(reporting: nil) }
    }

    private func reportEnd(_ trailers: HTTPHead?) {
        let reported = trailers?.count ?? 0 > 0 ? trailers : nil
        user?.receivedEnd(trailers: reported)
        session.receivedWhole(self)
    }

    // MARK: What goes out

    /// The last frame has gone into the output.
    func sentEnd() {
        sending = .sent
    }

    /// Moves bytes that wait into the output; false if there are none.
    func moveOutbound(_ count: Int, to output: ByteQueue) -> Bool {
        guard let queue = outbound.take() else { return false }
        output.append(queue.readable.extracting(0..<count))
        queue.drop(count)
        outbound = queue
        session.waiting -= count
        progress = session.now
        return true
    }

    /// Takes the trailers, to be sent.
    func removeTrailers() -> HTTPHead? { trailers.take() }

    // MARK: The end

    /// Whether the message that matters to the user at the end has gone, or come, as a whole.
    var isWhole: Bool { session.isServer ? sending == .sent : receiving == .ended }

    /// Ends the stream behind received bytes that wait for the user: of a response, or of a request that is read on.
    ///
    /// - Parameter reason: The reason to report, or nil if the message that matters is whole.
    func endBehindInput(reporting reason: HTTPReset?) {
        guard !session.isServer || isReadOn && reason == nil, let user, holdsInput,
            reason == nil || user.needsInputBeforeReset
        else { return end(reporting: reason) }
        inbox.reset = reason
        // Release now: the peer no longer reads the output, which would hold memory and the sender.
        releaseOutbound()
        guard notifiesDrained else { return }
        notifiesDrained = false
        user.drained()
    }

    /// The stream is no more: tells its user why, unless all went well, and lets go of what it kept.
    func end(reporting reason: HTTPReset?) {
        let user = user.take()
        if let reason {
            user?.wasReset(isUnprocessed(reason) ? .unprocessed : reason)
        } else if receiving != .ended {
            user?.wasReset(.canceled)
        }
        releaseAll()
    }

    private func releaseAll() {
        releaseOutbound()
        (inbox.endIsWaiting, inbox.reset) = (false, nil)
        if let head = inbox.trailers.take() { session.release(head) }
        releaseInbound()
    }

    private func releaseOutbound() {
        if let head = trailers.take() { session.release(head) }
        guard let queue = outbound.take() else { return }
        session.waiting -= queue.count
        session.release(queue)
    }

    private func releaseInbound() {
        // What is being delivered is released by whoever delivers it.
        guard !inbox.isBeingDelivered, let queue = inbox.body.take() else { return }
        session.release(queue.count)
        session.release(queue)
    }

    /// Whether the peer has surely not begun to process the request (RFC 9113 §8.7).
    private func isUnprocessed(_ reason: HTTPReset) -> Bool {
        guard !session.isServer, rejection == nil else { return false }
        return output == .queued || reason == .code(.refusedStream)
    }
}
