internal import Bytes
public import Configuration
internal import Events
internal import HTTP
package import Policy
internal import Protocols
internal import RPC
internal import Resolver
internal import TLS
package import Telemetry
public import Time

/// One upstream as a worker sees it: its settings and its pools of connections.
///
/// It lives as long as some generation in use names it, and stays through reloads that do not change its settings.
public final class Upstream {
    /// What the configuration says of it.
    public let settings: UpstreamSettings
    /// The name as logs write it.
    let name: [UInt8]
    let context: WireContext
    let network: any Network
    let dnsCache: DNSCache
    /// By what the metrics know it.
    package let counter: UpstreamCounter
    let limits: HTTPLimits
    /// What is spoken over TLS; nil is clear text.
    let tls: UpstreamTLS?
    /// What it understands, if that is not whatever its callers speak.
    let families: [RPCFamily]
    /// Whether gRPC-Web as text passes as it is.
    let speaksText: Bool
    /// Whether it is spoken to by the REST paths of methods.
    let speaksREST: Bool
    /// The compressions that it understands; none if that is any.
    let compressions: AcceptedCompressions?
    /// What requests get where they do not have it.
    let defaults: RequestDefaults?
    /// The cookies that the upstream has set, where they are kept.
    let cookies: CookieStore?
    /// Which calls go to several addresses; none if no call does.
    let hedging: HedgePolicy?
    /// The calls under way in the process; none where nobody counts them.
    let calls: UpstreamCallLimit?
    /// What its requests have in files; none where none are kept there.
    let spool: SpoolBudget?
    /// How many calls may be retried.
    package var budget: RetryBudget
    /// What the request's authority becomes; nil where the caller's stays.
    public let authority: [UInt8]?
    /// The authority of a request whose caller has named none.
    let spareAuthority: [UInt8]
    /// Whether what is sent there cannot be read on the way; kept, as the settings have to read an address for it.
    public let isConfidential: Bool

    /// Whether a call may be retried by its retry budget, which pays for it then.
    public func withdrawRetry(at now: Instant) -> Bool { budget.withdraw(at: now) }

    private let logLimiter: LogLimiter
    private let events: UpstreamEvents

    private let resumption = TLSResumption()
    /// What stands for whatever its name leads to, if calls are not spread over addresses.
    private var sole: UpstreamAddress!
    /// What spreads calls over addresses.
    private(set) var balancer: Balancer?
    /// How many connections of each version are open.
    private var (http1Connections, http2Connections) = (0, 0)
    /// How many are being made.
    private var (http1Dials, http2Dials) = (0, 0)
    /// The only version that the upstream speaks, by its URL.
    private let fixed: HTTPVersion?
    /// The only version that the upstream has turned out to speak, and until when that is believed.
    private var learned: (version: HTTPVersion, until: Instant)?

    /// How long it is believed: an upstream may be many servers, and they may be changed.
    private static let memory = 30 * Duration.second

    init(
        _ settings: UpstreamSettings,
        context: WireContext,
        network: any Network,
        names: NameService,
        counter: UpstreamCounter,
        events: UpstreamEvents,
        logLimiter: LogLimiter,
        tls: UpstreamTLS?,
        defaults: RequestDefaults? = nil,
        addresses: AddressTable? = nil,
        calls: UpstreamCallLimit? = nil,
        spool: SpoolBudget? = nil,
        cookies: CookieStore? = nil,
        seed: UInt64 = 1
    ) {
        self.settings = settings
        self.tls = tls
        name = Array(settings.name.utf8)
        self.context = context
        self.network = network
        self.counter = counter
        (self.events, self.logLimiter) = (events, logLimiter)
        dnsCache = DNSCache(settings.url.endpoint, names: names, loop: context.loop)
        limits = HTTPLimits(
            head: settings.limits.head,
            fields: settings.limits.fields,
            streams: settings.limits.streams
        )
        self.defaults = defaults
        self.calls = calls
        self.spool = spool
        families = settings.speaks.compactMap(\.family)
        speaksText = settings.speaks.contains(.grpcWebText)
        speaksREST = settings.speaks == [.rest]
        compressions = settings.compressions.map(AcceptedCompressions.init)
        self.cookies = cookies
        budget = RetryBudget(
            perThousand: settings.retryBudget.perThousand,
            minimumPerSecond: settings.retryBudget.minimumPerSecond
        )
        isConfidential = settings.isConfidential
        hedging = addresses == nil ? nil : HedgePolicy(settings.addresses)
        authority = settings.authority.map { Array($0.utf8) }
        spareAuthority = Array((settings.ownAuthority ?? "localhost").utf8)
        fixed =
            switch settings.url.scheme {
            case .http: .http1
            case .h2c: .http2
            case .https: nil
            }
        if let addresses, settings.addresses.isBalanced {
            balancer = Balancer(of: self, addresses, names: names, seed: seed)
        } else {
            sole = UpstreamAddress(nil, of: self)
        }
    }

    /// What carries the bytes of a connection that is being made: itself, or TLS over it.
    func secured(_ connection: any Transport, for version: HTTPVersion) -> any Transport {
        guard let tls else {
            precondition(settings.tls == nil, "clear text must be intended")
            return connection
        }
        let session = TLSSession(
            tls.context,
            resuming: resumption,
            offering: ApplicationProtocol.offered(for: version),
            output: context.sealed
        )
        return TLSTransport(over: connection, session, connecting: true, context: context)
    }

    /// Whether no connection to the upstream can carry gRPC, as far as is known.
    var speaksOnlyHTTP1: Bool { only == .http1 }

    /// Finds a connection for the attempt: one with room at once, or else one that is made or gets room.
    ///
    /// A call keeps its version of HTTP unless the upstream speaks only the other.
    func acquire(for attempt: Attempt) {
        if let balancer { balancer.acquire(for: attempt) } else { acquire(for: attempt, at: sole) }
    }

    /// Finds a connection for a request of our own, whose upstream has no several addresses.
    func acquire(for seeker: any ConnectionSeeker) { acquire(for: seeker, at: sole) }

    /// Finds a connection to one of the addresses.
    func acquire(for seeker: any ConnectionSeeker, at place: UpstreamAddress) {
        place.pool(only ?? seeker.version).acquire(for: seeker)
    }

    /// The attempt waits no more.
    func withdraw(_ attempt: Attempt) {
        if let balancer { balancer.withdraw(attempt) } else { sole.withdraw(attempt) }
    }

    /// A request of our own waits no more.
    func withdraw(_ seeker: any ConnectionSeeker) { sole.withdraw(seeker) }

    /// Makes no new connections for later: idle ones close now, the others after their exchanges.
    func drain() {
        if let balancer { balancer.drain() } else { sole.drain() }
    }

    /// Closes a connection that has no call, if there is one.
    func closeIdle() -> Bool {
        places.contains { $0.http1.closeIdle() || $0.http2.closeIdle() }
    }

    /// The addresses, as far as there are connections to them.
    var places: [UpstreamAddress] { balancer?.addresses ?? [sole] }

    /// The version that a connection is made for when no call asks for one.
    ///
    /// Over TLS the server chooses.
    var probeVersion: HTTPVersion { only ?? .http2 }

    /// How many connections of one version are open.
    func connections(_ version: HTTPVersion) -> Int { version == .http1 ? http1Connections : http2Connections }

    /// So many connections more are open, or fewer.
    func noteConnections(_ count: Int, _ version: HTTPVersion) {
        if version == .http1 { http1Connections += count } else { http2Connections += count }
    }

    /// How many connections of one version are being made.
    func dials(_ version: HTTPVersion) -> Int { version == .http1 ? http1Dials : http2Dials }

    /// So many more are being made, or fewer.
    func noteDials(_ count: Int, _ version: HTTPVersion) {
        if version == .http1 { http1Dials += count } else { http2Dials += count }
    }

    /// Ends stalled calls that hold connections others wait for; returns since when the first of the others stalls.
    func makeRoom(_ request: RoomRequest) -> Instant { events.makeRoom(request) }

    // MARK: Several addresses

    /// Something has become of an address, which people should know.
    func note(
        _ text: String,
        at address: SocketAddress,
        _ more: (name: StaticString, value: String)...,
        isWarning: Bool = true
    ) {
        let fields = [("upstream", settings.name), ("address", "\(address)")] + more
        logLimiter.note(text, about: "\(settings.name) \(address)", fields, isWarning: isWarning)
    }

    /// The calls of an address fail, and it stays as too many others are out.
    func noteShare(_ address: UpstreamAddress, _ failure: String) {
        events.shareReached()
        guard let place = address.address else { return }
        note("upstream address fails and stays in, as eject.share is reached", at: place, ("reason", failure))
    }

    /// No address is of use.
    func noteAllOut() {
        let name = settings.name
        logLimiter.note("every address is out; trying all", about: name, [("upstream", name)])
    }

    /// Nothing new is known of the addresses.
    func noteUnknown(_ error: ResolverError, hasOld: Bool) {
        let name = settings.name
        connectError = "\(error)"
        let text = hasOld ? "cannot find addresses; the old ones stay" : "cannot find addresses"
        logLimiter.note(text, about: "\(name) \(error)", [("upstream", name), ("reason", "\(error)")])
    }

    /// Logs and counts that DNS has `count` addresses or targets, of which only some are used.
    func logExcessAddresses(_ count: Int) {
        events.addressesExceeded()
        let (name, limit) = (settings.name, settings.limits.addresses)
        logLimiter.note(
            "DNS has more addresses than limits.addresses; the others get no calls",
            about: name,
            [("upstream", name), ("found", "\(count)"), ("limit", "\(limit)")]
        )
    }

    /// The upstream went beyond a limit of HTTP/2.
    func exceeded(_ limit: HTTP2Limit, at address: SocketAddress) {
        events.exceeded(limit)
        let label = limit.label.label.description
        logLimiter.note(
            "upstream exceeded an HTTP/2 limit",
            about: "\(settings.name) \(label)",
            [
                ("upstream", settings.name),
                ("address", "\(address)"),
                ("limit", label),
                ("reason", limit.text),
            ]
        )
    }

    /// Counts and logs a connection that begins no more calls because callers canceled too many on it.
    func retired(at address: SocketAddress) {
        events.retired()
        logLimiter.note(
            "retired a connection to an upstream",
            about: settings.name,
            [
                ("upstream", settings.name),
                ("address", "\(address)"),
                ("reason", "callers have canceled too many calls on it"),
            ]
        )
    }

    /// Why the last connection could not be made; nil if one has been made since.
    private(set) var connectError: String?

    /// A connection has been made.
    func connected() {
        connectError = nil
    }

    /// A connection could not be made.
    func notConnected(_ error: UpstreamError) {
        let name = settings.name
        let reason = error.error(upstream: name, for: .http).message
        connectError = reason
        // It may have an address in it, and what is about another is another matter.
        let subject = balancer == nil ? name : reason
        logLimiter.note("cannot connect to upstream", about: subject, [("upstream", name), ("reason", reason)])
    }

    /// The only version that the upstream speaks, as far as is known.
    private var only: HTTPVersion? {
        guard let learned, context.loop.now < learned.until else { return fixed }
        return learned.version
    }

    /// A server of the upstream does not speak the version of a pool, but the other: whoever waits there is served by that.
    func speaks(_ version: HTTPVersion, insteadOf pool: Pool, at place: UpstreamAddress) {
        if pool.open == 0 { learned = (version, context.loop.now + Self.memory) }
        for attempt in pool.removeWaiting() where !attempt.isOver {
            if version == .http1, attempt.needsHTTP2 {
                attempt.failed(.needsHTTP2)
            } else {
                place.pool(version).acquire(for: attempt)
            }
        }
    }
}
