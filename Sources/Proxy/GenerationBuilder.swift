internal import Configuration
internal import Telemetry

/// A generation that is being made on its worker's thread, in steps between which calls have their turns.
final class GenerationBuilder {
    let settings: Settings
    let tls: TLSContexts
    private let number: Int
    private let table: RouteTable
    private let acquired: Acquired
    private let context: CompileContext
    private let counters: WorkerCounters
    private let diagnostics = Diagnostics()
    private var compiler: ChainCompiler

    init(
        _ settings: Settings,
        number: Int,
        routes table: RouteTable,
        tls: TLSContexts,
        acquired: Acquired,
        context: CompileContext,
        counters: WorkerCounters
    ) {
        self.settings = settings
        self.number = number
        self.table = table
        self.tls = tls
        self.acquired = acquired
        self.context = context
        self.counters = counters
        compiler = ChainCompiler(settings, context: context, counters: counters, diagnostics: diagnostics)
    }

    /// Takes a step, if there is one left.
    func step() {
        _ = compiler.step()
    }

    /// Completes it.
    ///
    /// - Parameters:
    ///   - upstreams: its upstreams, by their names.
    ///   - discard: gets what it leaves when no call goes by it any more.
    /// - Returns: the generation, of which the worker is to make use.
    func finish(upstreams: [String: Upstream], discard: @escaping (RouteTable, Acquired) -> Void) -> Generation {
        let chains = compiler.finish()
        // In a release build nobody is thrown out for a file that has gone since the check: what needs it fails by itself.
        assert(diagnostics.isEmpty, "settings must be checked before they become a generation")
        counters.setBuckets(context.buckets?.bounds ?? .standard)
        return Generation(
            settings,
            number: number,
            chains: chains,
            routes: table,
            upstreams: upstreams,
            counters: counters,
            discard: { [table, acquired] in discard(table, acquired) }
        )
    }
}
