internal import Configuration
internal import Events
internal import HTTP
internal import Proxy
internal import Time

/// The admin socket, served on the main thread.
final class AdminServer: ConnectionService {
    let headTimeout: Duration? = 10 * .second
    let idleTimeout: Duration? = 60 * .second
    /// The pages read no body.
    let bodyTimeout: Duration? = nil
    let stalledTimeout: Duration? = 60 * .second
    /// An operator who follows calls may stop reading for a while: the lines are bounded and drop.
    let unreadTimeout: Duration? = 3600 * .second
    let limits = HTTPLimits(head: 16 * 1024, fields: 100, streams: 8)
    /// Callers that say nothing keep no operator, and no probe, from looking.
    let makesRoom = true

    /// What it was opened by.
    let settings: AdminSettings
    private let sockets: [ListenSocket]
    private let context: WireContext
    private let pages: AdminPages
    private let streams: AdminStreams
    private let access: AdminAccess
    private let log: OperationalLog
    private var acceptors: [Acceptor] = []

    /// Opens the socket and serves.
    init(_ settings: AdminSettings, daemon: Daemon) throws(ListenError) {
        self.settings = settings
        sockets = try Self.sockets(settings, daemon.listeners)
        context = WireContext(loop: daemon.loop)
        access = AdminAccess(settings.address)
        pages = AdminPages(daemon, settings.pages)
        streams = daemon.admin.streams
        log = daemon.log
        if !daemon.isWaitingForTurn { serve() }
    }

    private func serve() {
        for socket in sockets {
            acceptors.append(Acceptor(socket.descriptor, context: context, service: self, limit: 64) { _ in })
            log.log(.info, "listening", ("address", socket.localAddress), ("for", "admin"))
        }
    }

    /// Those that an earlier process has handed over, or new ones.
    private static func sockets(_ settings: AdminSettings, _ listeners: ListenerSet?) throws(ListenError)
        -> [ListenSocket]
    {
        let address = settings.address
        let handedOver = address.available.compactMap { listeners?.acquireHandedOver(on: $0) }
        return handedOver.isEmpty ? try ListenSocket.openAll(address, permissions: settings.permissions) : handedOver
    }

    /// The sockets, for a process that takes the place of this one.
    var handedOver: [Launcher.Named] { sockets.map { (name: $0.storeName, descriptor: $0.descriptor) } }

    /// Accepts no more, and leaves the sockets to a process that has taken them over.
    func handOver() {
        for acceptor in acceptors { acceptor.stopAccepting() }
        for socket in sockets { socket.hold() }
    }

    /// The process that has handed the sockets over uses them no more.
    ///
    /// A Unix socket whose file cannot get its permissions keeps those it has.
    func own() {
        for socket in sockets {
            socket.own()
            try? socket.setPermissions(settings.permissions)
        }
        serve()
    }

    /// Where it listens, with the real port.
    var addresses: [String] { sockets.map(\.localAddress) }

    /// Serves no more, and removes the file of a Unix socket.
    func close() {
        for acceptor in acceptors { acceptor.stopAccepting() }
        for socket in sockets { socket.close() }
    }

    func open(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer) -> any HTTPStreamUser {
        let request = AdminRequest(head, to: access)
        context.heads.release(head)
        let exchange = AdminExchange(stream, isHead: request.isHead, heads: context.heads, streams: streams)
        if access.allows(peer.credentials) {
            pages.respond(to: request) { exchange.send($0) }
        } else {
            exchange.send(.text("only root and the user of the daemon may ask here", status: 403))
        }
        return exchange
    }

    func exceeded(_ limit: HTTP2Limit, by peer: Peer) {}

    func stalled(_ peer: Peer) {}

    func reject(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?) {
        stream.reject(error, heads: context.heads)
    }
}
