package import Configuration
internal import Telemetry
package import Types

/// One configuration, with everything that was parsed, read and made for it.
///
/// It is made once, on the main thread, and never changes; the workers share it and make their generations of it.
package final class Plan: Sendable {
    /// The settings; good for use only if nothing was reported.
    package let settings: Settings
    /// The files that tokens come from.
    package let tokenFiles: [String]
    /// The files that logs go to.
    package let logFiles: [MarkedString]
    /// Where logs are to go to standard output.
    package let outputLogs: [Mark]
    /// The credentials that interceptors name.
    package let credentials: [NamedCredential]
    /// What the settings of TLS came to.
    package let tls: TLSContexts
    /// The types of messages that the file names; none if it names none.
    package let types: KnownTypes?
    /// The upstream whose types are fetched; none if the file names none.
    package let reflection: ReflectionPlan?
    /// The upstreams whose addresses are checked.
    package let health: [HealthPlan]
    /// Where spans go; none if nowhere.
    package let telemetry: TelemetryPlan?
    /// The chains of the file by their names; the default one comes first.
    let chains: [(name: String, plan: ChainPlan)]
    /// What requests get where they do not have it, by the names of upstreams.
    let defaults: [String: RequestDefaults]
    /// The buckets of the histograms.
    let buckets: HistogramBounds
    /// Whether a condition of an interceptor asks for the systemd unit of callers.
    let asksForUnits: Bool
    /// The kinds of interceptors that respond to calls.
    private let respondingKinds: Set<String>

    /// Reads the root of a file, and reports what is wrong with any part of it.
    ///
    /// - Parameters:
    ///   - root: the document; none if the file is empty.
    ///   - kinds: the kinds of interceptors that there are.
    ///   - version: the version of Martlet.
    ///   - variable: the value of an environment variable.
    ///   - diagnostics: where problems go.
    package init(
        _ root: Node?,
        kinds: Registry,
        version: String = "",
        variable: (String) -> String? = { _ in nil },
        into diagnostics: Diagnostics
    ) {
        respondingKinds = Set(kinds.kinds.filter(\.responds).map(\.name))
        let settings = Settings(root, into: diagnostics, respondingKinds: respondingKinds, variable: variable)
        let acquired = Acquired()
        let calls = NamedCalls(settings, acquired, into: diagnostics)
        calls.checkFiles(into: diagnostics)
        let resources = BuildResources(
            calls: calls,
            mocks: settings.mocks,
            caches: settings.caches,
            acquired: acquired,
            sample: settings.telemetry.sample
        )
        for kind in kinds.kinds { kind.prepare?(resources, diagnostics) }
        let lists = [("", settings.interceptors)] + settings.chains.map { ($0.name, $0.items) }
        let chains = lists.map { (name: $0, plan: ChainPlan($1, of: kinds, resources, into: diagnostics)) }
        for route in settings.routes {
            if let match = route.match { _ = Condition(match, into: diagnostics) }
            guard let upstream = route.upstream.flatMap({ settings.upstream(named: $0) }) else { continue }
            let chain = chains.first { $0.name == route.chain ?? "" } ?? chains[0]
            chain.plan.reportRejections(to: upstream, of: settings.items(of: route), into: diagnostics)
            chain.plan.reportSharing(of: upstream, into: diagnostics)
        }
        let defaults = settings.upstreams.map { ($0.name, RequestDefaults($0.defaults, into: diagnostics)) }
        self.defaults = Dictionary(defaults) { first, _ in first }.compactMapValues { $0 }
        for upstream in settings.upstreams { Self.checkHash(upstream.addresses, into: diagnostics) }
        self.settings = settings
        self.chains = chains
        tls = TLSContexts(settings, into: diagnostics)
        types = KnownTypes(settings.types, into: diagnostics)
        reflection = ReflectionPlan(settings, tls)
        health = HealthPlan.all(settings, tls)
        telemetry = TelemetryPlan(settings.telemetry, acquired, version: version, into: diagnostics)
        credentials = resources.credentials
        tokenFiles = Set(credentials.compactMap(\.source.path)).sorted()
        logFiles = resources.logFiles
        outputLogs = resources.outputLogs
        for token in settings.upstreams.compactMap(\.addresses.health?.token)
        where !credentials.contains(where: { $0.name == token.text }) {
            let problem = "there is no token interceptor \(Diagnostic.quote(token.text))"
            diagnostics.report("\(problem); write the name of one", at: token.mark)
        }
        buckets = resources.buckets?.bounds ?? .standard
        asksForUnits = chains.contains { $0.plan.links.contains { $0.condition?.asksForUnits == true } }
        // Reflection may bring more.
        if let types, types.reflected == nil { check(types.set, into: diagnostics) }
        guard settings.types.files.isEmpty, settings.types.reflection == nil else { return }
        for link in chains.flatMap(\.plan.links) {
            (link.interceptor as? any Typed)?.checkWithoutTypes(into: diagnostics)
        }
    }

    private static func checkHash(_ addresses: UpstreamAddressSettings, into diagnostics: Diagnostics) {
        guard case .hash(let text) = addresses.balance else { return }
        let template = Template(text, at: addresses.balanceMark, into: diagnostics)
        guard template.constant != nil else { return }
        let problem = "\"hash\" is the same for all calls; write a placeholder, such as {header:x-user}"
        diagnostics.report(problem, at: addresses.balanceMark)
    }

    /// Warns of places in messages, services and methods that the configuration names and no type has, and of methods that their upstream
    /// has no place for.
    package func check(_ types: TypeSet, into diagnostics: Diagnostics) {
        ProcedureCheck(types, into: diagnostics).check(settings)
        RESTUpstreamCheck(types, respondingKinds: respondingKinds, into: diagnostics).check(settings)
        let check = PlaceCheck(types, into: diagnostics)
        let routes = Dictionary(grouping: settings.routes) { $0.chain ?? "" }.mapValues { $0.map(\.match) }
        for (chain, items) in zip(chains, [settings.interceptors] + settings.chains.map(\.items)) {
            check.check(chain.plan, items, routes: routes[chain.name] ?? [])
            for link in chain.plan.links {
                (link.interceptor as? any Typed)?.check(TypeCheck(types, into: diagnostics))
            }
        }
    }

    /// How many steps a worker takes to prepare a generation of it.
    package var steps: Int { chains.count }
}
