internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import TLS
internal import Telemetry
internal import Time

/// Makes calls of the requests that come in on one listener.
final class CallerService: ConnectionService {
    let worker: Worker
    /// The address of the listener as it is logged.
    let name: [UInt8]
    private(set) var headTimeout: Duration?
    private(set) var bodyTimeout: Duration?
    private(set) var idleTimeout: Duration?
    private(set) var stalledTimeout: Duration?
    private(set) var limits = HTTPLimits()
    /// The most bytes of one message of a request.
    private(set) var requestMessageLimit: Int?
    /// The most bytes of one message of a response.
    private(set) var responseMessageLimit: Int?
    /// Whether callers are told by `proxy-status` why they get an error of ours.
    private(set) var sendsProxyStatus = false
    /// Whom the names that a request brings let in.
    private(set) var callerGuard: CallerGuard
    /// How long an interceptor may suspend an event.
    private(set) var suspensionTimeout: Duration?
    /// The most bytes of one message that an interceptor sees.
    private(set) var heldMessageLimit = 0
    /// The most that waits for an interceptor in one direction of a call before no more is read.
    private(set) var heldEventLimit = 0
    private(set) var heldByteLimit = 0
    /// What new connections speak; nil is clear text, or that a file of TLS is not there where a call is only rehearsed.
    private var tls: ListenerTLS?
    private var tlsSettings: ListenerTLSSettings?

    init(_ settings: ListenerSettings, name: String, worker: Worker) {
        self.worker = worker
        self.name = Array(name.utf8)
        callerGuard = CallerGuard(settings.guards, isSecure: settings.tls != nil)
        use(settings)
    }

    /// Takes the settings of a new generation.
    ///
    /// The time limits of bodies and readers count for old connections too, the others for new ones.
    func use(_ settings: ListenerSettings) {
        headTimeout = settings.timeouts.head
        bodyTimeout = settings.timeouts.body
        idleTimeout = settings.timeouts.idle
        stalledTimeout = settings.timeouts.stalled
        requestMessageLimit = settings.limits.requestMessage
        responseMessageLimit = settings.limits.responseMessage
        sendsProxyStatus = settings.sendsProxyStatus
        callerGuard = CallerGuard(settings.guards, isSecure: settings.tls != nil)
        suspensionTimeout = settings.timeouts.suspension
        heldMessageLimit = settings.limits.heldMessage
        heldEventLimit = settings.limits.heldEvents
        heldByteLimit = settings.limits.heldBytes
        limits = HTTPLimits(
            head: settings.limits.head,
            fields: settings.limits.fields,
            heads: settings.limits.heads,
            streams: settings.limits.streams,
            resets: settings.limits.resets
        )
        tlsSettings = settings.tls
        tls = settings.tls.flatMap { worker.tls.listeners[$0] }
    }

    /// Takes what the files of these settings have come to now, if the listener goes by them.
    func use(_ new: ListenerTLS, for settings: ListenerTLSSettings) {
        if tlsSettings == settings { tls = new }
    }

    /// Whether callers have to come in TLS.
    var isSecure: Bool { tlsSettings != nil }

    var asksForUnits: Bool { worker.generation.asksForUnits }

    func secured(_ connection: any Transport, context: WireContext) -> any Transport {
        guard let tls else {
            precondition(tlsSettings == nil, "clear text must be intended")
            return connection
        }
        let session = TLSSession(tls.context, output: context.sealed)
        return TLSTransport(over: connection, session, connecting: false, context: context)
    }

    func open(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer) -> any HTTPStreamUser {
        head.normalizePath()
        head.joinCookies()
        if let table = worker.generation.restTable, let types = worker.generation.types,
            let match = RESTMatch(head, table, types, limit: heldMessageLimit)
        {
            let reader = RESTRequestReader(stream, head, match, types, from: peer, on: self)
            reader.start(end: end)
            return reader
        }
        let call = Call(stream, head: head, end: end, from: peer, on: self)
        call.start()
        return call
    }

    func reject(_ stream: any HTTPStream, _ error: HTTPError, head: HTTPHead?) {
        worker.counters.badRequest(error.label)
        if let limit = error.limit { worker.counters.limitHit(limit) }
        stream.reject(error, head: error.limit == nil ? nil : head, heads: worker.context.heads)
    }

    func tlsFailed(_ reason: String, with peer: Peer) {
        let listener = String(decoding: name, as: UTF8.self)
        worker.logLimiter.note(
            "TLS handshake with caller failed",
            about: listener,
            [
                ("reason", reason),
                ("peer", String(decoding: peer.text, as: UTF8.self)),
                ("listener", listener),
            ]
        )
    }

    func stalled(_ peer: Peer) {
        worker.counters.limitHit(.stalled)
        let listener = String(decoding: name, as: UTF8.self)
        worker.logLimiter.note(
            "caller reads nothing; closing its connection",
            about: listener,
            [
                ("limit", "timeouts.stalled"),
                ("peer", String(decoding: peer.text, as: UTF8.self)),
                ("listener", listener),
            ]
        )
    }

    func outOfMemory(_ peer: Peer) {
        worker.counters.limitHit(.memory)
        let listener = String(decoding: name, as: UTF8.self)
        worker.logLimiter.note(
            "limits.memory is reached; rejecting an incomplete head",
            about: "",
            [
                ("held", "\(worker.context.memory.used)"),
                ("limit", "\(worker.context.memory.callLimit)"),
                ("peer", String(decoding: peer.text, as: UTF8.self)),
                ("listener", listener),
            ]
        )
    }

    func exceeded(_ limit: HTTP2Limit, by peer: Peer) {
        worker.counters.http2LimitHit(limit.label)
        let label = limit.label.label.description
        let listener = String(decoding: name, as: UTF8.self)
        worker.logLimiter.note(
            "caller exceeded an HTTP/2 limit",
            about: "\(listener) \(label)",
            [
                ("limit", label),
                ("reason", limit.text),
                ("peer", String(decoding: peer.text, as: UTF8.self)),
                ("listener", listener),
            ]
        )
    }
}
