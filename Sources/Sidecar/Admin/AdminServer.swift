internal import Configuration
internal import Events
internal import HTTP
internal import Proxy
internal import Time

/// The admin socket, served on the main thread.
final class AdminServer: ConnectionService {
    let headTimeout: Duration? = 10 * .second
    let idleTimeout: Duration? = 60 * .second
    let stalledTimeout: Duration? = 60 * .second
    let limits = HTTPLimits(head: 16 * 1024, fields: 100, streams: 8)
    /// Callers that say nothing keep no operator, and no probe, from looking.
    let makesRoom = true

    /// What it was opened by.
    let settings: AdminSettings
    private let sockets: [ListenSocket]
    private let context: WireContext
    private let pages: AdminPages
    /// Whether a request must name this machine: DNS rebinding lets a web page name another for a loopback address.
    private let checksHost: Bool
    private var acceptors: [Acceptor] = []

    /// Opens the socket and serves.
    init(_ settings: AdminSettings, daemon: Daemon) throws(ListenError) {
        self.settings = settings
        sockets = try ListenSocket.openAll(settings.address, permissions: settings.permissions)
        context = WireContext(loop: daemon.loop)
        checksHost = if case .tcp = settings.address { settings.address.isLocal } else { false }
        pages = AdminPages(daemon, settings.pages)
        for socket in sockets {
            acceptors.append(Acceptor(socket.descriptor, context: context, service: self, limit: 64) { _ in })
            daemon.log.log(.info, "listening", ("address", socket.localAddress), ("for", "admin"))
        }
    }

    /// Where it listens, with the real port.
    var addresses: [String] { sockets.map(\.localAddress) }

    /// Serves no more, and removes the file of a Unix socket.
    func close() {
        for acceptor in acceptors { acceptor.stopAccepting() }
        for socket in sockets { socket.close() }
    }

    func open(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer) -> any HTTPStreamUser {
        let request = AdminRequest(head, checksHost: checksHost)
        context.heads.release(head)
        let exchange = AdminExchange(stream, heads: context.heads)
        pages.respond(to: request) { exchange.send($0) }
        return exchange
    }

    func exceeded(_ limit: HTTP2Limit, by peer: Peer) {}

    func stalled(_ peer: Peer) {}

    func reject(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?) {
        stream.reject(error, heads: context.heads)
    }
}

/// One request to the admin socket; it is answered at once, and its body is read away.
private final class AdminExchange: HTTPStreamUser {
    private let stream: any HTTPStream
    private let heads: HTTPHeadPool
    private var isOver = false

    init(_ stream: any HTTPStream, heads: HTTPHeadPool) {
        self.stream = stream
        self.heads = heads
    }

    func send(_ response: AdminResponse) {
        guard !isOver else { return }
        isOver = true
        var fields = [(name: Array("content-type".utf8), value: Array(response.contentType.utf8))]
        if let allow = response.allow { fields.append((Array("allow".utf8), Array(allow.utf8))) }
        stream.sendWhole(status: response.status, fields: fields, body: response.body, heads: heads)
    }

    func wasReset(_ reason: HTTPReset) {
        isOver = true
    }

    func received(body: Span<UInt8>) {}
    func receivedEnd(trailers: HTTPHead?) {}
    func received(informational head: HTTPHead) {}
    func received(head: HTTPHead, end: Bool) {}
    func drained() {}
}
