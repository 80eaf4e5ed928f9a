internal import Configuration
internal import Events
internal import Telemetry

/// One loaded configuration as a worker runs it: compiled chains, routes and the upstreams they name.
///
/// A call keeps the generation that it began with, so that a reload changes nothing for it.
final class Generation {
    /// Counts the configurations that have been loaded, from 1.
    let number: Int
    let routes: RouteTable
    let upstreams: [String: Upstream]
    /// The calls that go by this generation.
    var calls = 0 {
        didSet { if calls == 0 { unused?() } }
    }
    /// Called when the last call has ended.
    var unused: (() -> Void)?

    init(
        _ settings: Settings,
        number: Int,
        upstreams: [String: Upstream],
        context: CompileContext,
        counters: WorkerCounters
    ) {
        self.number = number
        self.upstreams = upstreams
        let diagnostics = Diagnostics()
        let compiler = ChainCompiler(context: context, counters: counters, diagnostics: diagnostics)
        let chains = compiler.chains(of: settings)
        let fallback = Route(number: nil, condition: nil, chain: chains.default, upstream: nil)
        let routes = settings.routes.enumerated().map { index, route in
            let compiled = Route(
                number: index,
                condition: route.match.map { Condition($0, into: diagnostics) },
                chain: route.chain.flatMap { chains.named[$0] } ?? chains.default,
                upstream: route.upstream.flatMap { upstreams[$0] }
            )
            return (compiled, route.match)
        }
        self.routes = RouteTable(routes, fallback: fallback)
        // In a release build nobody is thrown out for a file that has gone since the check: what needs it fails by itself.
        assert(diagnostics.isEmpty, "settings are checked before they become a generation")
    }
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
        if let condition, condition.codes != 0, interceptor.events.isDisjoint(with: [.anyEnd, .finished]) {
            let problem = "\"code\" is known only when an answer ends, and \(kind.name) does nothing then"
            diagnostics.report("\(problem); remove it", at: item.when?.mark ?? item.mark)
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
}
