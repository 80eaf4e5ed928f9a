package import Bytes
package import Events
internal import HTTP
internal import Time

/// Takes the connections of one listening socket on one thread and keeps those that are open.
package final class Acceptor: ListenerOwner {
    /// What an acceptor tells of the limits it meets.
    package enum Event: Sendable {
        case accepted, closed, rejected, noDescriptor, noMemory, outOfDescriptors, evicted, tlsFailed
    }

    let context: WireContext
    let service: any ConnectionService
    private let report: (Event) -> Void
    private var listener: Listener?
    private var connections: [CallerConnection] = []
    private var stallTimer: Timer?
    /// The time of the next check for stalled calls.
    private var stallCheck = Instant.min
    /// Whether no connection is looked at for stalls soon.
    private var isResting = true
    /// Whether each connection, also of those that are still to come, closes after its next call.
    private(set) var isClosing = false

    /// The most connections that are open at a time; one more is answered 503 and closed, unless the service makes room.
    package var limit: Int

    /// Starts to accept on `descriptor`, which stays the caller's.
    package init(
        _ descriptor: Int32,
        context: WireContext,
        service: any ConnectionService,
        limit: Int,
        report: @escaping (Event) -> Void
    ) {
        self.context = context
        self.service = service
        self.limit = limit
        self.report = report
        stallTimer = Timer(on: context.loop.timers) { [unowned self] in endStalled() }
        listener = Listener(descriptor, on: context.loop, owner: self)
    }

    /// Makes an acceptor without a listening socket, which is handed its connections.
    init(context: WireContext, service: any ConnectionService, limit: Int, report: @escaping (Event) -> Void) {
        self.context = context
        self.service = service
        self.limit = limit
        self.report = report
        stallTimer = Timer(on: context.loop.timers) { [unowned self] in endStalled() }
    }

    deinit {
        stallTimer?.cancel()
    }

    // Here, and not `acceptor.service.open`: what is reached over two objects is counted.
    func open(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer) -> any HTTPStreamUser {
        if isResting { watchForStalls() }
        return service.open(stream, head: head, end: end, from: peer)
    }

    // MARK: Stalls

    /// The shortest time after which something has stalled; no limit if nil.
    private var stallLimit: Duration? {
        guard let limit = service.bodyTimeout ?? service.unreadTimeout else { return nil }
        return min(limit, service.unreadTimeout ?? limit)
    }

    /// Checks the connections so often that an end comes at most an eighth of its limit late, until none has a call.
    func watchForStalls() {
        // A timer that is armed stays as it is: new connections would put it off for ever.
        guard isResting, let limit = stallLimit else { return }
        isResting = false
        checkStalls(after: max(10 * .millisecond, limit / 16))
    }

    private func checkStalls(after pause: Duration) {
        stallCheck = context.loop.now + pause
        stallTimer?.arm(at: stallCheck)
    }

    private func endStalled() {
        let now = context.loop.now
        // The machine was suspended, or had no time: callers have all of their limit from now on.
        if let limit = stallLimit, now - stallCheck > limit { return checkStalls(after: limit) }
        isResting = true
        var hasHTTP2 = false
        for connection in connections {
            if connection.endStalled(at: now) { watchForStalls() }
            hasHTTP2 = hasHTTP2 || connection.version == .http2
        }
        // Such a connection may have frames to send without a call.
        if isResting, hasHTTP2, let limit = stallLimit { checkStalls(after: limit) }
    }

    var idleTimeout: Duration? { service.idleTimeout }

    /// The number of open connections.
    package var count: Int { connections.count }

    /// Accepts no more.
    ///
    /// What waits in the kernel's queue is taken first, since closing the socket would reset it.
    package func stopAccepting() {
        listener?.finish()
        listener = nil
    }

    /// Takes the connections that wait on another socket of the same address.
    func acceptWaiting(on descriptor: Int32) {
        Listener(descriptor, on: context.loop, owner: self).finish()
    }

    /// Has each connection close after its next call and say so in the response; takes new ones all the same.
    ///
    /// With `movesOn` somebody goes on accepting on the socket, so a GOAWAY sends HTTP/2 callers there now.
    func announceClose(movesOn: Bool) {
        isClosing = true
        for connection in connections { connection.announceClose(movesOn: movesOn) }
    }

    /// The number of connections with a call that began before `announceClose`, for which `movesOn` was said.
    var leavingCount: Int { connections.count { $0.isLeaving } }

    /// The number of connections without a call whose callers have been told and have not closed them yet.
    var lingeringCount: Int { connections.count { $0.isLingering } }

    /// Ends the calls that began before `announceClose`.
    func abandonLeaving() {
        for connection in connections where connection.isLeaving { connection.abandon() }
    }

    /// Closes idle connections now and the others after the call under way.
    package func drain() {
        for connection in connections { connection.drain() }
    }

    /// Ends the calls under way now.
    func abandon() {
        for connection in connections { connection.abandon() }
    }

    package func accepted(_ socket: Socket, from address: SocketAddress?, mayWait: Bool) -> Bool {
        let admission = admit(socket.number, mayWait: mayWait)
        if case .waits = admission { return false }
        if case .rejected(let limit) = admission {
            // Before anything is made for TLS.
            reject(socket, limit)
            return true
        }
        let credentials = address == nil ? socket.peerCredentials : nil
        let peer = Peer(address: address, credentials: credentials)
        if service.asksForUnits { peer.settleUnit(over: socket) }
        serve(service.secured(socket, context: context), from: peer)
        return true
    }

    package func outOfDescriptors() -> Bool {
        report(.outOfDescriptors)
        return context.descriptors?.makeRoom(for: 1, atOnce: true) ?? false
    }

    /// TLS with a caller has failed.
    func tlsFailed() {
        report(.tlsFailed)
    }

    /// Takes a connection that has no descriptor.
    func accept(_ transport: any Transport, from peer: Peer) {
        if case .rejected(let limit) = admit(0, mayWait: false) { return reject(transport, limit) }
        serve(transport, from: peer)
    }

    private func admit(_ descriptor: Int, mayWait: Bool) -> Admission {
        guard connections.count < limit || service.makesRoom && makeRoom() else { return .rejected(.rejected) }
        let share = service.isSecure ? ConnectionShare.handshake : ConnectionShare.plain
        let admission = context.reclaimer?.admit(share, mayWait: mayWait) ?? .stays
        guard admission == .stays else { return admission }
        return context.descriptors?.admit(descriptor, mayWait: mayWait) ?? .stays
    }

    private func serve(_ transport: any Transport, from peer: Peer) {
        let connection = CallerConnection(transport, peer: peer, acceptor: self)
        connection.position = connections.count
        connections.append(connection)
        report(.accepted)
    }

    /// Closes the connection that has been without a call longest; false if each has one.
    private func makeRoom() -> Bool {
        guard let oldest = connections.filter({ !$0.hasCall }).min(by: { $0.idleSince < $1.idleSince }) else {
            return false
        }
        oldest.cutOff()
        return true
    }

    private func reject(_ transport: any Transport, _ limit: Event) {
        report(limit)
        // A caller in TLS could not read it.
        if !service.isSecure { _ = transport.send(Self.rejection(for: limit).span) }
        transport.close()
    }

    /// The connections that have had no call under way since before `time`; new ones on which nothing has come are among
    /// them only with `new`.
    func connections(idleBefore time: Instant, new: Bool) -> [CallerConnection] {
        connections.filter { $0.isIdle && $0.idleSince < time && (new || !$0.isNew) }
    }

    /// The connections that are open.
    var openConnections: [CallerConnection] { connections }

    /// The connections without a call, also those whose next head has arrived in part.
    var connectionsWithoutCall: [CallerConnection] { connections.filter { !$0.servesCall } }

    /// Whether there is a connection without a call under way.
    var hasIdle: Bool { connections.contains { $0.isIdle } }

    /// An idle connection is about to be closed, since descriptors or memory are short.
    func evicts() {
        context.descriptors?.budget.leave()
        report(.evicted)
    }

    /// The calls and connections that hold bytes of which nobody has taken any for `patience`.
    func stalled(for patience: Duration, at now: Instant) -> [StalledCall] {
        connections.flatMap { $0.stalled(for: patience, at: now) }
    }

    /// Has calls release what they keep only for the case that something goes wrong.
    func releaseSpares() {
        for connection in connections { connection.releaseSpares() }
    }

    /// The connection is closed.
    func remove(_ connection: CallerConnection) {
        context.descriptors?.budget.release(hasLeft: connection.isEvicted)
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.position] = last
            last.position = connection.position
        }
        report(.closed)
    }

    private static let tooMany = rejection("limits.connections is reached")
    private static let noDescriptor = rejection("out of file descriptors")
    private static let noMemory = rejection("Martlet has reached its memory limit (limits.memory)")

    private static func rejection(for limit: Event) -> [UInt8] {
        switch limit {
        case .noDescriptor: noDescriptor
        case .noMemory: noMemory
        default: tooMany
        }
    }

    private static func rejection(_ message: String) -> [UInt8] {
        let body = #"{"code":"resource_exhausted","message":"\#(message)"}"#
        let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n"
        return Array("\(head)content-length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }
}
