internal import Bytes
internal import Events
private import Glibc
internal import TLS
internal import Time

/// A connection in TLS, over a transport that carries what is encrypted.
///
/// The watcher is told `writable` when the handshake is over, well or not, as if that were the connect. Nothing is kept
/// of what arrives: each call of `receive` decrypts all that it reads.
final class TLSTransport: Transport, Watcher, EndOfTurn {
    private enum Phase { case connecting, securing, open, failed, closed }

    /// How much is encrypted before it is sent.
    private static let piece = 64 * 1024
    /// How often one more message of the handshake may come on an open connection.
    private static let messageInterval = 60 * Duration.second

    private let inner: any Transport
    private let session: TLSSession
    private let context: WireContext
    private var watcher: (any Watcher)?
    private var phase: Phase
    private var isDue = false
    private var isEnding = false
    /// When what is below was connected.
    private(set) var connectedAt = Instant.start
    /// When the handshake was over.
    private var openedAt = Instant.min

    /// What is encrypted and has not been taken.
    private let pending: ByteQueue
    /// What came with the end of the handshake, decrypted.
    private let early: ByteQueue
    /// How many of the first bytes that are to be sent next are in `pending`.
    ///
    /// The last byte of what has been encrypted stays with the wire until the ciphertext has gone, so that the wire
    /// does not take it for sent; the others are told at once, since they may have gone.
    private var ahead = 0
    private var writeError: Int32?

    private(set) var connectError: Int32 = 0

    /// Puts TLS over a transport; `session` writes to the scratch queue `context.sealed`.
    init(over inner: any Transport, _ session: TLSSession, connecting: Bool, context: WireContext) {
        self.inner = inner
        self.session = session
        self.context = context
        phase = connecting ? .connecting : .securing
        pending = ByteQueue(pool: context.buffers)
        early = ByteQueue(pool: context.buffers)
    }

    /// Why the connection could not be secured, or is not any more.
    var error: TLSError? { session.error }

    var negotiatedProtocol: String? { session.negotiatedProtocol }

    // MARK: Readiness

    func start(on loop: EventLoop, watcher: any Watcher) {
        self.watcher = watcher
        inner.start(on: loop, watcher: self)
        watchesRead = true
    }

    var watchesRead = false {
        didSet {
            adjust()
            if watchesRead, hasMore { beDue() }
        }
    }

    var watchesWrite = false {
        didSet { adjust() }
    }

    private func adjust() {
        switch phase {
        case .connecting: (inner.watchesRead, inner.watchesWrite) = (false, true)
        case .securing: (inner.watchesRead, inner.watchesWrite) = (true, !pending.isEmpty)
        case .open: (inner.watchesRead, inner.watchesWrite) = (watchesRead, watchesWrite || !pending.isEmpty)
        case .failed, .closed: (inner.watchesRead, inner.watchesWrite) = (false, false)
        }
    }

    func readable() {
        switch phase {
        case .securing: secure()
        case .open: watcher?.readable()
        case .connecting, .failed, .closed: return
        }
    }

    func writable() {
        switch phase {
        case .connecting: connected()
        case .securing: sendPending()
        case .open:
            sendPending()
            if watchesWrite, pending.isEmpty || writeError != nil { watcher?.writable() }
        case .failed, .closed: return
        }
    }

    // MARK: The handshake

    private func connected() {
        connectError = inner.connectError
        guard connectError == 0 else { return finishHandshake(.failed) }
        connectedAt = context.loop.now
        phase = .securing
        session.start()
        advance()
    }

    private func secure() {
        let ciphertext = context.ciphertext
        switch inner.receive(into: ciphertext, room: WireContext.readSize - TLSSession.recordSize) {
        case .bytes: session.receive(ciphertext.readable, into: early, room: WireContext.readSize)
        case .notNow: return
        case .end, .cutOff: session.receiveEnd()
        case .failed(let errno): connectError = errno
        }
        ciphertext.removeAll()
        advance()
    }

    private func advance() {
        // An alert, too. If it cannot be sent, what the other end has said may still be read.
        sendOutput()
        if let error = session.error, connectError == 0 {
            connectError = error == .closed ? ECONNABORTED : EPROTO
        }
        if connectError != 0 { return finishHandshake(.failed) }
        if session.isEstablished { return finishHandshake(.open) }
        adjust()
    }

    private func finishHandshake(_ phase: Phase) {
        self.phase = phase
        openedAt = context.loop.now
        adjust()
        watcher?.writable()
    }

    // MARK: Reading

    func receive(into queue: ByteQueue, room: Int) -> Transfer {
        guard early.isEmpty else { return receiveEarly(into: queue) }
        if let end { return end }
        guard phase == .open else { return .notNow }
        let before = queue.count
        let ciphertext = context.ciphertext
        let outcome = inner.receive(into: ciphertext, room: room - TLSSession.recordSize)
        guard case .bytes = outcome else {
            // Whoever can cut the connection must not be able to make the part look like the whole.
            return outcome == .end ? .cutOff : outcome
        }
        session.allowedMessages = TLSSession.maxMessages + Int((context.loop.now - openedAt) / Self.messageInterval)
        session.receive(ciphertext.readable, into: queue, room: room)
        ciphertext.removeAll()
        sendOutput()
        guard queue.count > before else { return end ?? .notNow }
        if hasMore { beDue() }
        return .bytes(queue.count - before)
    }

    private func receiveEarly(into queue: ByteQueue) -> Transfer {
        let early = early
        let count = early.count
        queue.append(early.readable)
        early.removeAll()
        if hasMore { beDue() }
        return .bytes(count)
    }

    /// What there is to tell once everything that has come is read.
    private var end: Transfer? {
        if session.error != nil { return .failed(EPROTO) }
        return session.hasEnded ? .end : nil
    }

    /// Whether there is something to read that the inner transport will not tell of.
    private var hasMore: Bool { !early.isEmpty || end != nil }

    private func beDue() {
        guard !isDue else { return }
        isDue = true
        context.atEndOfTurn(self)
    }

    func endOfTurn() {
        isDue = false
        if case .open = phase, watchesRead, hasMore { watcher?.readable() }
    }

    var isHungUp: Bool { inner.isHungUp }

    // MARK: Writing

    func send(_ bytes: Span<UInt8>) -> Transfer {
        send(bytes, Span())
    }

    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Transfer {
        guard case .open = phase else { return .notNow }
        sendPending()
        if let broken { return .failed(broken) }
        guard pending.isEmpty else { return .notNow }
        let total = first.count + second.count
        var done = min(ahead, total)
        ahead = 0
        while done < total {
            let (begin, end) = (done, min(total, done + Self.piece))
            if done < first.count { session.send(first.extracting(done..<min(end, first.count))) }
            if end > first.count { session.send(second.extracting(max(0, done - first.count)..<end - first.count)) }
            done = end
            sendOutput()
            // What has gone before is gone: the next attempt to send meets the error again.
            if let broken { return begin > 0 ? .bytes(begin) : .failed(broken) }
            guard pending.isEmpty else {
                ahead = 1
                return done > 1 ? .bytes(done - 1) : .notNow
            }
        }
        return .bytes(done)
    }

    private var broken: Int32? {
        writeError ?? (session.error == nil ? nil : EPROTO)
    }

    /// Sends what the session has written.
    private func sendOutput() {
        let sealed = context.sealed
        guard !sealed.isEmpty else { return }
        let wasEmpty = pending.isEmpty
        let sent = wasEmpty ? sent(sealed.readable) : 0
        if sent < sealed.count, writeError == nil { pending.append(sealed.readable.extracting(sent..<sealed.count)) }
        sealed.removeAll()
        if wasEmpty != pending.isEmpty { adjust() }
    }

    private func sendPending() {
        let pending = pending
        guard !pending.isEmpty else { return }
        pending.drop(sent(pending.readable))
        if writeError != nil { pending.removeAll() }
        guard pending.isEmpty else { return }
        adjust()
        if isEnding { inner.endSending() }
    }

    /// How many of these bytes the inner transport has taken.
    private func sent(_ bytes: Span<UInt8>) -> Int {
        switch inner.send(bytes) {
        case .bytes(let count): return count
        case .failed(let errno): writeError = errno
        case .notNow, .end, .cutOff: break
        }
        return 0
    }

    // MARK: The end

    var resetsOnClose: Bool {
        get { inner.resetsOnClose }
        set { inner.resetsOnClose = newValue }
    }

    var unacknowledged: Int { pending.count + inner.unacknowledged }

    func endSending() {
        session.end()
        sendOutput()
        isEnding = true
        if pending.isEmpty { inner.endSending() }
    }

    func close() {
        if case .closed = phase { return }
        // Only where it can go at once, whole: the peer then knows that this was the end.
        if case .open = phase, pending.isEmpty, writeError == nil, !resetsOnClose {
            session.end()
            sendOutput()
        }
        phase = .closed
        inner.close()
        watcher = nil
        pending.removeAll()
        early.removeAll()
    }
}
