internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import TLS
internal import Telemetry

/// One upstream as a worker sees it: its settings and its pools of connections.
///
/// It lives as long as some generation in use names it, and stays through reloads that do not change its settings.
final class Upstream {
    let settings: UpstreamSettings
    /// The name as logs write it.
    let name: [UInt8]
    let context: WireContext
    let network: any Network
    let addressBook: AddressBook
    let counter: UpstreamCounter
    let limits: HTTPLimits
    /// What is spoken over TLS; nil is clear text.
    let tls: UpstreamTLS?
    let connectTimeout: Nanoseconds?
    let firstByteTimeout: Nanoseconds?
    let callTimeout: Nanoseconds?
    let idleTimeout: Nanoseconds?
    /// How long a connection with calls under way may be silent before it is asked whether it lives.
    let keepalive: Nanoseconds?
    /// What the request's authority becomes; nil where the caller's stays.
    let authority: [UInt8]?
    /// Whether what is sent there cannot be read on the way.
    let isConfidential: Bool

    private let resumption = TLSResumption()
    private var pool: Pool!

    init(
        _ settings: UpstreamSettings,
        context: WireContext,
        network: any Network,
        names: NameService,
        counter: UpstreamCounter,
        tls: UpstreamTLS?
    ) {
        precondition((settings.tls == nil) == (tls == nil), "clear text has to be meant")
        self.settings = settings
        self.tls = tls
        name = Array(settings.name.utf8)
        self.context = context
        self.network = network
        self.counter = counter
        addressBook = AddressBook(settings.url.endpoint, names: names, loop: context.loop)
        limits = HTTPLimits(streams: settings.limits.streams)
        connectTimeout = settings.timeouts.connect.map { Nanoseconds($0) }
        firstByteTimeout = settings.timeouts.firstByte.map { Nanoseconds($0) }
        callTimeout = settings.timeouts.call.map { Nanoseconds($0) }
        idleTimeout = settings.timeouts.idle.map { Nanoseconds($0) }
        keepalive = settings.timeouts.keepalive.map { Nanoseconds($0) }
        isConfidential = settings.isConfidential
        authority = settings.authority.map { Array($0.utf8) }
        pool = Pool(settings.url.scheme == .h2c ? .http2 : .http1, of: self)
    }

    /// What carries the bytes of a connection that is being made: itself, or TLS over it.
    func secured(_ connection: any Transport) -> any Transport {
        guard let tls else { return connection }
        let session = TLSSession(tls.context, resuming: resumption, output: context.sealed)
        return TLSTransport(over: connection, session, connecting: true, context: context)
    }

    /// Whether no connection to the upstream can carry gRPC.
    var speaksOnlyHTTP1: Bool { settings.url.scheme == .http }

    /// Finds a connection for the attempt: one with room at once, or else one that is made or gets room.
    func acquire(for attempt: Attempt) {
        pool.acquire(for: attempt)
    }

    /// The attempt waits no more.
    func withdraw(_ attempt: Attempt) {
        pool.withdraw(attempt)
    }

    /// Makes no new connections for later: idle ones close now, the others after their exchanges.
    func drain() {
        pool.drain()
    }
}
