/// The whole configuration, read and checked.
///
/// Settings are equal if they mean the same, wherever it stands in the file.
public struct Settings: Equatable, Sendable {
    /// The sockets on which callers connect, in the order of the file.
    public let listeners: [ListenerSettings]
    /// The remote services, in the order of their names.
    public let upstreams: [UpstreamSettings]
    /// The requests that Martlet makes by itself, in the order of their names.
    public let calls: [CallSettings]
    /// What serves calls in place of a server, in the order of the file.
    public let mocks: [MockSettings]
    /// Where responses are kept, in the order of the file.
    public let caches: [CacheSettings]
    /// The default chain, with what it includes.
    public let interceptors: [ChainItem]
    /// The chains with names, in the order of the file.
    public let chains: [ChainSettings]
    /// The routes in the order of the file; without any in the file, one that takes all calls.
    public let routes: [RouteSettings]
    /// How many workers run; none is as many as the machine suggests.
    public let workers: Int?
    /// The sockets of the admin pages that the file names.
    public let admin: [AdminSettings]
    /// What is known of the types of messages.
    public let types: TypesSettings
    /// Where spans go.
    public let telemetry: TelemetrySettings
    /// What the process cannot do once it has started.
    public let sandbox: SandboxSettings
    /// What the process as a whole may take.
    public let limits: ProcessLimits
    /// How long a stop takes.
    public let drain: DrainSettings
    /// How much is written to the operational log.
    public let logLevel: LogLevel
    /// Whether a crash dumps core.
    public let coreDumps: Bool
    /// The file, with short forms written out.
    @NotCompared private var root: Node

    /// Reads the root of a file and reports everything that is wrong with it.
    ///
    /// The settings are good for use only if `diagnostics` is empty afterwards.
    ///
    /// - Parameters:
    ///   - root: the document; none if the file is empty.
    ///   - diagnostics: where errors go.
    ///   - respondingKinds: the kinds of interceptors that respond to calls, so that a route may do without an upstream.
    ///   - variable: the value of an environment variable.
    public init(
        _ root: Node?,
        into diagnostics: Diagnostics,
        respondingKinds: Set<String> = [],
        variable: (String) -> String? = { _ in nil }
    ) {
        let long = Shorthand.expand(root ?? Node(.null, at: .start), into: diagnostics)
        let root = Shorthand.nameChains(of: long)
        let section = Section(root, Self.options, into: diagnostics)
        listeners = section.sections("listeners").compactMap(ListenerSettings.init)
        upstreams = section.named("upstreams").compactMap(UpstreamSettings.init).sorted { $0.name < $1.name }
        calls = section.named("calls").map(CallSettings.init).sorted { $0.name < $1.name }
        mocks = MockSettings.all(section)
        caches = section.named("caches").map(CacheSettings.init)
        let assembly = ChainAssembly(section)
        interceptors = assembly.interceptors
        chains = assembly.chains
        let only = section.named("upstreams").count == 1 ? section.named("upstreams")[0].name : nil
        let routes = section.sections("routes").map { RouteSettings($0, only: only) }
        let everything = RouteSettings(match: nil, upstream: only, chain: nil, mark: section.mark)
        self.routes = routes.isEmpty ? [everything] : routes
        workers = section.integer(ifGiven: "workers")
        admin = section.sections("admin").compactMap(AdminSettings.init)
        types = TypesSettings(section.section("types"))
        telemetry = TelemetrySettings(section.section("telemetry"), variable: variable)
        sandbox = SandboxSettings(section.section("sandbox"))
        limits = ProcessLimits(section.section("limits"))
        drain = DrainSettings(section.section("drain"))
        logLevel = LogLevel(rawValue: section.string("log_level")) ?? .info
        coreDumps = section.bool("core_dumps")
        self.root = root
        check(section, respondingKinds: respondingKinds, chainsAreWhole: assembly.isWhole)
    }

    /// The configuration in effect for people to read: long forms, defaults filled in, secrets hidden.
    ///
    /// Reads the file's contents again, so it is not for the path of a call.
    public var rendered: Node {
        Section(root, Self.options, into: Diagnostics()).rendered
    }

    /// The upstream of that name.
    public func upstream(named name: String) -> UpstreamSettings? {
        upstreams.first { $0.name == name }
    }

    /// The request of that name that Martlet makes by itself.
    public func call(named name: String) -> CallSettings? {
        calls.first { $0.name == name }
    }

    /// The interceptors that the calls of `route` pass.
    public func items(of route: RouteSettings) -> [ChainItem] {
        guard let name = route.chain else { return interceptors }
        return chains.first { $0.name == name }?.items ?? []
    }
}
