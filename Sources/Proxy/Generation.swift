internal import Configuration
internal import Events
internal import Telemetry

/// One loaded configuration as a worker runs it: compiled chains, routes and the upstreams they name.
///
/// A call keeps the generation that it began with, so that a reload changes nothing for it.
final class Generation {
    /// Counts the configurations that have been loaded, from 1.
    let number: Int
    /// What takes a call that no route takes: the default chain, and no upstream.
    let fallback: Route
    let upstreams: [String: Upstream]
    /// Whether a condition asks for the systemd unit of callers.
    let asksForUnits: Bool
    /// The calls that go by this generation.
    var calls = 0 {
        didSet { if calls == 0 { unused?() } }
    }
    /// Called when the last call has ended.
    var unused: (() -> Void)?

    private let table: RouteTable
    /// For each target of the table.
    private let routes: [Route]
    private let discard: (RouteTable) -> Void
    /// What the calls of each route are counted under; empty if no route has a name.
    private let routeCounters: [RouteCounter]

    init(
        _ settings: Settings,
        number: Int,
        routes table: RouteTable,
        discard: @escaping (RouteTable) -> Void,
        upstreams: [String: Upstream],
        context: CompileContext,
        counters: WorkerCounters
    ) {
        self.number = number
        self.upstreams = upstreams
        let diagnostics = Diagnostics()
        let compiler = ChainCompiler(context: context, counters: counters, diagnostics: diagnostics)
        let chains = compiler.chains(of: settings)
        fallback = Route(chain: chains.default, upstream: nil)
        let items = settings.interceptors + settings.chains.flatMap(\.items)
        asksForUnits = table.asksForUnits || items.contains { $0.when?.peerUnits.isEmpty == false }
        counters.setBuckets(context.buckets?.bounds ?? .standard)
        routeCounters = table.names.enumerated().map { number, name in
            name.map { counters.route(named: $0) } ?? .number(number)
        }
        self.table = table
        self.discard = discard
        routes = table.targets.map { target in
            Route(
                chain: target.chain.flatMap { chains.named[$0] } ?? chains.default,
                upstream: target.upstream.flatMap { upstreams[$0] }
            )
        }
        // In a release build nobody is thrown out for a file that has gone since the check: what needs it fails by itself.
        assert(diagnostics.isEmpty, "settings are checked before they become a generation")
    }

    deinit {
        discard(table)
    }

    /// The first route that takes the call, by its number in the file from 0, and where its calls go.
    ///
    /// - Returns: no number, and the fallback, if none does.
    func route(for call: Call) -> (number: Int?, Route) {
        guard let number = table.route(for: call) else { return (nil, fallback) }
        return (number, routes[table.target(of: number)])
    }

    /// The name of a route, if it has one.
    func name(ofRoute number: Int) -> [UInt8]? { table.names.isEmpty ? nil : table.names[number] }

    /// What the calls of a route are counted under; those that no route takes have no number.
    func counter(ofRoute number: Int?) -> RouteCounter {
        guard let number else { return .none }
        return routeCounters.isEmpty ? .number(number) : routeCounters[number]
    }

    /// Whether a route names services or methods.
    func namesProcedure(route number: Int) -> Bool { table.namesProcedure(number) }
}

/// Compiles the chains of a configuration.
struct ChainCompiler {
    let context: CompileContext
    let counters: WorkerCounters
    let diagnostics: Diagnostics

    /// All chains; what is wrong with them is reported.
    func chains(of settings: Settings) -> (default: CompiledChain, named: [String: CompiledChain]) {
        let named = settings.chains.map { ($0.name, compile($0.items)) }
        return (compile(settings.interceptors), Dictionary(named) { first, _ in first })
    }

    private func compile(_ items: [ChainItem]) -> CompiledChain {
        if items.count > CompiledChain.longest {
            let mark = items[CompiledChain.longest].mark
            diagnostics.report("a chain has at most \(CompiledChain.longest) interceptors; split it", at: mark)
        }
        return CompiledChain(items.prefix(CompiledChain.longest).compactMap(compile))
    }

    private func compile(_ item: ChainItem) -> CompiledChain.Link? {
        guard let kind = context.kinds.kind(named: item.kind) else {
            let suggestion = Suggestion.text(for: item.kind, among: context.kinds.kinds.map(\.name))
            diagnostics.report("unknown kind \(Diagnostic.quote(item.kind)); \(suggestion)", at: item.kindMark)
            return nil
        }
        context.name = item.name
        let condition = item.when.map { Condition($0, into: diagnostics) }
        let isPerAttempt = item.per.map { $0 == .attempt } ?? kind.isPerAttempt
        let interceptor = kind.make(Section(item.options, kind.options, into: diagnostics), context)
        if let problem = Self.earlyProblem(item, condition, interceptor.events) {
            diagnostics.report(problem, at: item.when?.mark ?? item.mark)
        }
        return CompiledChain.Link(
            name: item.name,
            condition: condition,
            codes: condition?.codes ?? 0,
            shapes: item.applies,
            interceptor: interceptor,
            events: interceptor.events,
            isSerial: interceptor.isSerial,
            unwinds: item.unwinds,
            isPerAttempt: isPerAttempt,
            runsAgain: isPerAttempt || kind.rewrites,
            counter: counters.interceptor(item.name)
        )
    }

    /// What is wrong with an interceptor that is for some outcomes only and acts before there is one.
    private static func earlyProblem(_ item: ChainItem, _ condition: Condition?, _ events: EventSet) -> String? {
        guard let condition, condition.codes != 0, !events.isEmpty else { return nil }
        guard events.early != .responseHead else {
            guard item.applies != .unary, !condition.isUnary else { return nil }
            let problem = "\"code\" is known only when a response ends, and the head of a stream goes out before that"
            return "\(problem); add \"applies: unary\", or change trailers"
        }
        guard !events.early.isEmpty else { return nil }
        return "\"code\" is known only when a response ends, and \(item.kind) acts before that; remove it"
    }
}
