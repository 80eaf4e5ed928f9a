public import Configuration
package import Events
internal import HTTP
internal import Telemetry
internal import Time

/// A server that requests of our own go to, with what its settings of TLS came to.
public struct FetchServer: Hashable, Sendable {
    let settings: UpstreamSettings
    let tls: UpstreamTLS?

    /// Whether it can be spoken to: a file of its TLS may be gone, and then it is not spoken to in clear text.
    var isUsable: Bool { (settings.tls == nil) == (tls == nil) }

    /// Reads the files that the settings name; what is wrong with them is reported.
    public init(_ settings: UpstreamSettings, into diagnostics: Diagnostics) {
        self.settings = settings
        tls = settings.tls.flatMap { UpstreamTLS($0, of: settings.url, at: settings.mark, into: diagnostics) }
    }

    /// Makes one whose files were read.
    init(_ settings: UpstreamSettings, tls: UpstreamTLS?) {
        (self.settings, self.tls) = (settings, tls)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(settings.url)
    }
}

/// Makes the requests of our own on one thread, over connections that it keeps for the next ones.
package final class Fetcher {
    private let context: WireContext
    private let network: any Network
    private let names: NameService
    private let logLimiter: LogLimiter
    private let counters = WorkerCounters()
    private let limitReached: (LimitLabel) -> Void
    /// What responds in place of servers, where nothing is to be sent.
    var rehearsed: RehearsedFetches?
    private lazy var tasks = LoopTasks(on: context.loop)
    private var upstreams: [(server: FetchServer, upstream: Upstream)] = []
    /// The servers that connections are kept to.
    private static let maxServers = 64

    init(
        context: WireContext,
        network: any Network,
        names: NameService,
        logLimiter: LogLimiter,
        limitReached: @escaping (LimitLabel) -> Void = { _ in }
    ) {
        self.context = context
        self.network = network
        self.names = names
        self.logLimiter = logLimiter
        self.limitReached = limitReached
    }

    /// Makes one for a thread that is no worker's.
    package convenience init(loop: EventLoop) {
        self.init(
            context: WireContext(loop: loop),
            network: SystemNetwork(),
            names: NameService(loop: loop),
            logLimiter: LogLimiter(loop: loop) { _ in }
        )
    }

    /// Sends a request to a server.
    ///
    /// - Parameters:
    ///   - request: what is sent.
    ///   - server: who is asked.
    ///   - limit: the largest body of a response, in bytes.
    ///   - timeout: how long all of it may take.
    ///   - isForCall: whether the response is that to a call.
    ///   - done: gets the whole response, or why there is none, unless the fetch is cancelled; maybe before this returns.
    /// - Returns: what can be cancelled; nil if the server cannot be asked.
    func fetch(
        _ request: FetchRequest,
        from server: FetchServer,
        limit: Int = 1 << 20,
        timeout: Duration?,
        isForCall: Bool = false,
        done: @escaping Fetch.Completion
    ) -> Fetch? {
        if let rehearsed {
            if isForCall { rehearsed.note(request, at: context.loop.now) }
            done(rehearsed.response(request, server))
            return nil
        }
        guard server.isUsable else {
            done(.failure(FetchError(text: "\(server.settings.url): a TLS file cannot be read")))
            return nil
        }
        let fetch = Fetch(
            request,
            on: upstream(server),
            limit: limit,
            limitReached: limitReached,
            done: done
        )
        fetch.start(timeout: timeout, tasks: tasks)
        return fetch
    }

    /// What connects to a server, and keeps the connections.
    func upstream(_ server: FetchServer) -> Upstream {
        if let known = upstreams.first(where: { $0.server == server }) { return known.upstream }
        if upstreams.count >= Self.maxServers { upstreams.removeFirst().upstream.drain() }
        let upstream = Upstream(
            server.settings,
            context: context,
            network: network,
            names: names,
            counter: counters.upstream("fetch"),
            events: .uncounted,
            logLimiter: logLimiter,
            tls: server.tls
        )
        upstreams.append((server, upstream))
        return upstream
    }

    /// Closes what is idle, and keeps nothing for later.
    package func drain() {
        for (_, upstream) in upstreams { upstream.drain() }
        upstreams = []
    }
}
