package import Configuration
internal import Telemetry

/// Compiles the chains of a configuration, one interceptor at a time.
package struct ChainCompiler {
    private let context: CompileContext
    private let counters: WorkerCounters
    private let diagnostics: Diagnostics
    /// The chains of the file by their names; the default one comes first.
    private let chains: [(name: String, items: [ChainItem])]
    private var compiled: [CompiledChain] = []
    /// The interceptors of the chain that is being compiled, and how many of its items have been.
    private var links: [CompiledChain.Link] = []
    private var count = 0

    /// Prepares to compile the chains of `settings`; what is wrong with them will be reported.
    init(_ settings: Settings, context: CompileContext, counters: WorkerCounters, diagnostics: Diagnostics) {
        self.context = context
        self.counters = counters
        self.diagnostics = diagnostics
        chains = [("", settings.interceptors)] + settings.chains.map { ($0.name, $0.items) }
    }

    /// How many steps it takes to compile the chains of `settings`.
    package static func steps(_ settings: Settings) -> Int {
        let items = settings.interceptors.count + settings.chains.reduce(0) { $0 + $1.items.count }
        return items + settings.chains.count + 1
    }

    /// Compiles one interceptor, or completes a chain.
    ///
    /// - Returns: false if all chains had been completed.
    mutating func step() -> Bool {
        guard compiled.count < chains.count else { return false }
        let items = chains[compiled.count].items
        if count < min(items.count, CompiledChain.maxLength) {
            if let link = compile(items[count]) { links.append(link) }
            count += 1
            return true
        }
        if items.count > CompiledChain.maxLength {
            let mark = items[CompiledChain.maxLength].mark
            diagnostics.report("a chain can have at most \(CompiledChain.maxLength) interceptors; split it", at: mark)
        }
        compiled.append(CompiledChain(links))
        (links, count) = ([], 0)
        return true
    }

    /// All chains, compiled as far as they are not yet.
    mutating func finish() -> (default: CompiledChain, named: [String: CompiledChain]) {
        while step() {}
        let named = zip(chains, compiled).dropFirst().map { ($0.name, $1) }
        return (compiled[0], Dictionary(named) { first, _ in first })
    }

    private func compile(_ item: ChainItem) -> CompiledChain.Link? {
        guard let kind = context.kinds.kind(named: item.kind) else {
            let suggestion = Suggestion.text(for: item.kind, among: context.kinds.kinds.map(\.name))
            diagnostics.report(
                "unknown interceptor kind \(Diagnostic.quote(item.kind)); \(suggestion)",
                at: item.kindMark
            )
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
            let problem =
                "\"code\" is known only at the end of a response, but the head of a stream is sent before that"
            return "\(problem); add \"applies: unary\", or change trailers"
        }
        guard !events.early.isEmpty else { return nil }
        return "\"code\" is known only at the end of a response, but \(item.kind) acts before that; remove \"code\""
    }
}
