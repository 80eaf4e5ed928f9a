internal import Events
internal import Telemetry

/// A generation that is being made on its worker's thread, in steps between which calls have their turns.
final class GenerationBuilder {
    let plan: Plan
    private let number: Int
    private let table: RouteTable
    private let services: WorkerServices
    /// The chains that are made, in the order of the plan's.
    private var chains: [CompiledChain] = []

    /// Prepares to make a generation of `plan`, with the routes that were made for the worker.
    init(_ plan: Plan, number: Int, routes table: RouteTable, services: WorkerServices) {
        self.plan = plan
        self.number = number
        self.table = table
        self.services = services
    }

    /// Makes one chain, if there is one left.
    func step() {
        guard chains.count < plan.chains.count else { return }
        chains.append(CompiledChain(plan.chains[chains.count].plan, on: services))
    }

    /// Completes it.
    ///
    /// - Parameters:
    ///   - upstreams: its upstreams, by their names.
    ///   - types: the types that its calls go by.
    ///   - destination: where requests for an upstream go.
    ///   - discard: gets what it leaves when no call goes by it any more.
    /// - Returns: the generation, of which the worker is to make use.
    func finish(
        upstreams: [String: Upstream],
        types: KnownTypes?,
        destination: (Upstream) -> Destination,
        discard: @escaping (RouteTable, Plan) -> Void
    ) -> Generation {
        while chains.count < plan.chains.count { step() }
        services.counters.setBuckets(plan.buckets)
        return Generation(
            plan,
            number: number,
            began: services.loop.now,
            chains: chains,
            routes: table,
            upstreams: upstreams,
            types: types,
            counters: services.counters,
            destination: destination,
            discard: discard
        )
    }
}
