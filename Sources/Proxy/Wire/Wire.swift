internal import Bytes
internal import Events
private import Glibc
internal import Time

/// One connection: a transport and the bytes that wait on either side of it.
///
/// Reading goes through the scratch buffer of the thread and only what the owner leaves is kept; output is sent once
/// at the end of the turn. The owner holds the wire, until `wireClosed`, and the wire its owner.
final class Wire: Watcher, EndOfTurn {
    private enum State { case connecting, open, finishing(Ending), lingering, resetting(Reset), closed }

    /// How long a wire that has said its last word goes on reading what nobody wants.
    private static let lingerTime: Duration = 2 * .second

    /// The interval at which a wire that is to be reset checks whether its peer has received all output.
    private static let resetInterval = 5 * Duration.millisecond

    /// How often a wire that does not read looks whether its peer is still there.
    private static let peerInterval = 200 * Duration.millisecond

    /// From how many bytes on it is worth a system call of its own not to copy them.
    private static let largeWrite = 16 * 1024

    /// From how many bytes on the owner is told that they have gone, even if they went at once.
    private static let muchOutput = 64 * 1024

    /// What is to be sent.
    ///
    /// After a change the owner calls `outputChanged`.
    let output: ByteQueue
    /// The number of bytes that the transport has taken so far.
    private(set) var bytesSent = 0

    private let transport: any Transport
    private let context: WireContext
    private let owner: any WireOwner
    /// What the owner has left; nil if that is nothing.
    private var input: ByteQueue?
    private let inputLimit: Int
    private var state: State
    private var isDue = false
    private var needsDelivery = false
    private var isStuck = false
    /// When the peer last took some of what waits, or it began to wait.
    private var writtenAt = Instant.start
    /// Why nothing can be sent any more, as an errno.
    private var writeError: Int32?
    /// Why bytes could not be sent at once, until that is told.
    private var sendError: Int32?
    private var end: (seen: Bool, errno: Int32?) = (false, nil)
    private var timer: Timer?

    /// Makes a wire; `inputLimit` is how many bytes that the owner leaves are kept before reading stops.
    init(_ transport: any Transport, context: WireContext, owner: any WireOwner, inputLimit: Int, connecting: Bool) {
        self.transport = transport
        self.context = context
        self.owner = owner
        self.inputLimit = inputLimit
        output = ByteQueue(pool: context.buffers)
        state = connecting ? .connecting : .open
        transport.start(on: context.loop, watcher: self)
        guard connecting else { return }
        transport.watchesRead = false
        transport.watchesWrite = true
    }

    /// What both ends agreed to speak, if the connection is secured and has been made.
    var negotiatedProtocol: String? { transport.negotiatedProtocol }

    /// Since when the peer has taken nothing of what waits; `.max` if nothing does.
    var lastWritten: Instant { isStuck && !output.isEmpty ? writtenAt : .max }

    /// How many bytes are set aside for what the owner has left of what has come.
    var heldInput: Int { input?.capacity ?? 0 }

    /// Whether all has been sent, and the wire waits for the peer to close.
    var isLingering: Bool { if case .lingering = state { true } else { false } }

    /// Whether the wire is reset once its output is sent.
    var endsInReset: Bool {
        switch state {
        case .finishing(.reset), .resetting: true
        case .connecting, .open, .finishing, .lingering, .closed: false
        }
    }

    /// Sends the output at the end of this turn.
    func outputChanged() {
        beDue()
    }

    /// Gives the owner again what it left, at the end of this turn.
    func redeliver() {
        needsDelivery = true
        beDue()
    }

    /// Gives the owner again what it left, at the end of the next turn.
    func redeliverNextTurn() {
        context.loop.atNextTurn(Redelivery(of: self))
    }

    /// Sends what is in the output, and ends the connection then.
    func finish(_ ending: Ending) {
        switch state {
        case .open: state = .finishing(ending)
        case .connecting: return close()
        case .finishing, .lingering, .resetting, .closed: return
        }
        releaseInput()
        beDue()
    }

    /// Sends bytes behind the output: large ones at once, as far as the transport takes them, and small ones at the
    /// end of the turn.
    func send(_ bytes: Span<UInt8>) {
        outputChanged()
        guard bytes.count >= Self.largeWrite, case .open = state, !isStuck, writeError == nil, sendError == nil else {
            return output.append(bytes)
        }
        let output = output
        let count: Int
        switch transport.send(output.readable, bytes) {
        case .bytes(let sent): count = sent
        case .notNow, .end, .cutOff: count = 0
        case .failed(let errno):
            // Told at the end of the turn, since the kernel does not tell it again.
            sendError = errno
            count = 0
        }
        bytesSent += count
        let fromOutput = min(count, output.count)
        output.drop(fromOutput)
        output.append(bytes.extracting(count - fromOutput..<bytes.count))
    }

    /// Resets the connection at once; unsent output is lost.
    func abort() {
        transport.resetsOnClose = true
        close()
    }

    /// Sends what the transport takes now, and closes.
    func flushAndClose() {
        if case .open = state { owner.wireWillSend() }
        flush()
        close()
    }

    /// Ends the connection at once; unsent output is lost.
    func close() {
        if case .closed = state { return }
        state = .closed
        timer?.cancel()
        transport.close()
        output.removeAll()
        releaseInput()
        context.keep(self)
        owner.wireClosed()
    }

    // MARK: Reading

    func readable() {
        switch state {
        case .open: read()
        case .finishing, .lingering, .resetting: readAway()
        case .connecting, .closed: return
        }
    }

    private func read() {
        if let input { read(into: input) } else { read(into: context.scratch) }
    }

    private func read(into queue: ByteQueue) {
        guard queue.count < inputLimit else {
            transport.watchesRead = false
            return watchPeer()
        }
        switch transport.receive(into: queue, room: WireContext.readSize) {
        case .bytes: deliver(from: queue)
        case .notNow: return
        case .end: endReading(errno: nil)
        case .cutOff: endReading(errno: ECONNABORTED, isBroken: false)
        case .failed(let errno): endReading(errno: errno, isBroken: true)
        }
    }

    private func deliver(from queue: ByteQueue) {
        let given = queue.count
        let used = owner.wireReceived(queue.readable)
        guard case .open = state else { return context.scratch.removeAll() }
        if queue === input { return discardInput(used) }
        if used < given {
            let rest = context.acquireQueue()
            rest.append(queue.readable.extracting(used..<given))
            input = rest
        }
        queue.removeAll()
    }

    /// Drops what the owner has used by now of what it had left.
    private func discardInput(_ used: Int) {
        guard let input else { return }
        input.drop(used)
        if input.isEmpty { releaseInput() }
    }

    private func releaseInput() {
        if let queue = input.take() { context.release(queue) }
    }

    /// Looks now and then whether the peer is still there while nothing is read from it.
    ///
    /// Not by readiness: an error that is not asked for would be reported by epoll again and again.
    private func watchPeer() {
        guard owner.needsPeer else { return }
        arm(Self.peerInterval)
    }

    private func arm(_ delay: Duration) {
        let timer = timer ?? Timer(on: context.loop.timers) { [unowned self] in timedOut() }
        self.timer = timer
        timer.arm(after: delay)
    }

    private func timedOut() {
        switch state {
        case .lingering: close()
        case .resetting(let reset): resetWhenAcknowledged(since: reset)
        case .connecting, .open, .finishing, .closed: readPeer()
        }
    }

    private func readPeer() {
        guard case .open = state, !transport.watchesRead, !end.seen else { return }
        guard transport.isHungUp else { return watchPeer() }
        end = (true, nil)
        owner.wireEnded(errno: nil)
    }

    private func endReading(errno: Int32?, isBroken: Bool = false) {
        transport.watchesRead = false
        // The error of a connection is told once, and it may be writing that was told.
        let error = writeError ?? sendError
        end = (true, errno ?? error)
        // Deliver the input that the owner has not read before the end, unless it is useless without the peer.
        let isOver = error != nil || isBroken && owner.needsPeer
        if !hasUsableInput || isOver { owner.wireEnded(errno: end.errno) }
    }

    /// Whether some of what has come is still to be given to the owner.
    private var hasUsableInput: Bool {
        input != nil && (needsDelivery || owner.isHoldingBack)
    }

    private func readAway() {
        switch transport.receive(into: context.scratch, room: WireContext.readSize) {
        case .bytes: context.scratch.removeAll()
        case .notNow: return
        case .end, .cutOff, .failed: lingeringEnded()
        }
    }

    private func lingeringEnded() {
        if case .lingering = state { return close() }
        if case .resetting = state { return abort() }
        transport.watchesRead = false
        end = (true, nil)
    }

    // MARK: The end of the turn

    private func beDue() {
        guard !isDue else { return }
        isDue = true
        context.atEndOfTurn(self)
    }

    func endOfTurn() {
        isDue = false
        if needsDelivery {
            needsDelivery = false
            deliverRest()
        }
        if case .open = state { owner.wireWillSend() }
        flush()
    }

    private func deliverRest() {
        guard case .open = state else { return }
        if let input {
            let used = owner.wireReceived(input.readable)
            guard case .open = state else { return }
            discardInput(used)
        }
        if end.seen {
            if !hasUsableInput { owner.wireEnded(errno: end.errno) }
        } else if input?.count ?? 0 < inputLimit, !transport.watchesRead {
            transport.watchesRead = true
            timer?.disarm()
        }
    }

    // MARK: Writing

    func writable() {
        if case .connecting = state { return connectFinished() }
        flush()
    }

    private func connectFinished() {
        let errno = transport.connectError
        transport.watchesWrite = false
        guard errno == 0 else {
            owner.wireConnected(errno: errno)
            return
        }
        state = .open
        transport.watchesRead = true
        owner.wireConnected(errno: 0)
    }

    private func flush() {
        switch state {
        case .connecting, .lingering, .resetting, .closed: return
        case .open, .finishing: break
        }
        if let errno = sendError.take() { return broke(errno) }
        let output = output
        if writeError != nil { output.removeAll() }
        guard !output.isEmpty else { return flushed() }
        if !isStuck { writtenAt = context.loop.now }
        if output.count >= Self.muchOutput { isStuck = true }
        switch transport.send(output.readable) {
        case .bytes(let count):
            bytesSent += count
            writtenAt = context.loop.now
            output.drop(count)
        case .notNow, .end, .cutOff:
            break
        case .failed(let errno):
            return broke(errno)
        }
        guard output.isEmpty else {
            isStuck = true
            transport.watchesWrite = true
            return
        }
        flushed()
    }

    private func flushed() {
        if isStuck {
            isStuck = false
            transport.watchesWrite = false
            if case .open = state { owner.wireDrained() }
        }
        guard case .finishing(let ending) = state, output.isEmpty else { return }
        switch ending {
        case .lingering where !end.seen:
            state = .lingering
            transport.endSending()
            transport.watchesRead = true
            arm(Self.lingerTime)
        case .orderly, .lingering: close()
        case .reset: resetWhenAcknowledged(since: Reset(unacknowledged: .max, since: context.loop.now))
        }
    }

    /// Resets the connection once the peer has all that was sent: the kernel destroys the rest.
    ///
    /// A peer that takes nothing is not waited for.
    private func resetWhenAcknowledged(since last: Reset) {
        let (left, now) = (transport.unacknowledged, context.loop.now)
        let reset = left == last.unacknowledged ? last : Reset(unacknowledged: left, since: now)
        guard left > 0, now - reset.since < Self.lingerTime else { return abort() }
        state = .resetting(reset)
        arm(Self.resetInterval)
    }

    /// Nothing more can be sent.
    ///
    /// What the peer has said before is still read, since it may be a response that says why; behind it comes the end.
    private func broke(_ errno: Int32) {
        guard case .open = state else { return close() }
        writeError = errno
        output.removeAll()
        transport.watchesWrite = false
        let peerIsGone = errno == EPIPE || errno == ECONNRESET
        guard end.seen || !peerIsGone else { return }
        transport.watchesRead = false
        end = (true, errno)
        owner.wireEnded(errno: errno)
    }
}
