internal import Configuration
internal import Events
internal import HTTP
internal import Proxy

/// The admin socket, served on the main thread.
final class AdminServer: ConnectionService {
    let headTimeout: Nanoseconds? = 10 * .second
    let idleTimeout: Nanoseconds? = 60 * .second
    let limits = HTTPLimits(head: 16 * 1024, fields: 100)

    private let socket: ListenSocket
    private let context: WireContext
    private let pages: AdminPages
    private var acceptor: Acceptor?

    /// Opens the socket and serves.
    init(_ settings: AdminSettings, daemon: Daemon) throws(ListenError) {
        socket = try ListenSocket.open(settings.address, permissions: settings.permissions)
        context = WireContext(loop: daemon.loop)
        pages = AdminPages(daemon)
        acceptor = Acceptor(socket.descriptor, context: context, service: self, limit: 64) { _ in }
        daemon.log.log(.info, "listening", ("address", socket.localAddress), ("for", "admin"))
    }

    /// Serves no more, and removes the file of a Unix socket.
    func close() {
        acceptor?.stopAccepting()
        socket.close()
    }

    func open(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer) -> any HTTPStreamUser {
        let exchange = AdminExchange(stream, head: head, heads: context.heads, pages: pages)
        if end { exchange.receivedEnd(trailers: nil) }
        return exchange
    }

    func refuse(_ stream: any HTTPStream, _ fault: HTTPFault) {
        stream.refuse(fault, heads: context.heads)
    }
}

/// One request to the admin socket; its body is read and ignored.
private final class AdminExchange: HTTPStreamUser {
    private let stream: any HTTPStream
    private let head: HTTPHead
    private let heads: HTTPHeadPool
    private let pages: AdminPages
    private var isOver = false

    init(_ stream: any HTTPStream, head: HTTPHead, heads: HTTPHeadPool, pages: AdminPages) {
        self.stream = stream
        self.head = head
        self.heads = heads
        self.pages = pages
    }

    func receivedEnd(trailers: HTTPHead?) {
        let request = AdminRequest(head)
        heads.give(head)
        pages.answer(request) { [self] in send($0) }
    }

    private func send(_ answer: AdminAnswer) {
        guard !isOver else { return }
        isOver = true
        var fields = [(name: Array("content-type".utf8), value: Array(answer.contentType.utf8))]
        if let allow = answer.allow { fields.append((Array("allow".utf8), Array(allow.utf8))) }
        stream.sendWhole(status: answer.status, fields: fields, body: answer.body, heads: heads)
    }

    func wasReset(_ reason: HTTPReset) {
        isOver = true
    }

    func received(body: Span<UInt8>) {}
    func received(informational head: HTTPHead) {}
    func received(head: HTTPHead, end: Bool) {}
    func drained() {}
}
