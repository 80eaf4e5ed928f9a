internal import Configuration
internal import Events
internal import Telemetry
internal import Time
internal import Types

/// One loaded configuration as a worker runs it: compiled chains, routes and the upstreams they name.
///
/// A call keeps the generation that it began with, so that a reload changes nothing for it.
final class Generation {
    /// Counts the configurations that have been loaded, from 1.
    let number: Int
    let upstreams: [String: Upstream]
    /// Whether a condition asks for the systemd unit of callers.
    let asksForUnits: Bool
    /// The types of messages that are known.
    let types: KnownTypes?
    /// The paths by which callers may use methods, if they may.
    let restTable: RESTTable?
    /// When it was loaded.
    let began: Instant
    /// When a reload put another in its place; nil if none has.
    var replaced: Instant?
    /// Whether its calls were ended, since it was replaced too long ago.
    var isExpired = false
    /// The calls that go by this generation.
    var calls = 0 {
        didSet { if calls == 0 { unused?() } }
    }
    /// Called when the last call has ended.
    var unused: (() -> Void)?

    private let table: RouteTable
    /// For each target of the table, and last for calls that no route takes.
    private var routes: [Route]
    private let remains: Remains
    /// What the calls of each route are counted under; empty if no route has a name.
    private let routeCounters: [RouteCounter]

    /// Makes a generation of the number that `plan` was loaded as.
    ///
    /// - Parameters:
    ///   - plan: the configuration.
    ///   - number: its number.
    ///   - began: when it was loaded.
    ///   - chains: its chains, in the order of the plan's.
    ///   - table: its routes.
    ///   - upstreams: its upstreams, by their names.
    ///   - types: the types that its calls go by.
    ///   - counters: where its calls are counted.
    ///   - destination: where requests for an upstream go.
    ///   - discard: gets what the generation leaves when no call goes by it any more.
    init(
        _ plan: Plan,
        number: Int,
        began: Instant,
        chains: [CompiledChain],
        routes table: RouteTable,
        upstreams: [String: Upstream],
        types: KnownTypes?,
        counters: WorkerCounters,
        destination: (Upstream) -> Destination,
        discard: @escaping (RouteTable, Plan) -> Void
    ) {
        self.number = number
        self.began = began
        self.upstreams = upstreams
        self.types = types
        restTable = types?.restTable
        self.table = table
        remains = Remains { discard(table, plan) }
        let named = Dictionary(zip(plan.chains, chains).map { ($0.name, $1) }) { first, _ in first }
        asksForUnits = table.asksForUnits || plan.asksForUnits
        routeCounters = table.names.enumerated().map { number, name in
            name.map { counters.route(named: $0) } ?? .number(number)
        }
        let targets = table.targets.map { target in
            Route(
                chain: target.chain.flatMap { named[$0] } ?? chains[0],
                destination: target.upstream.flatMap { upstreams[$0] }.map(destination) ?? .none
            )
        }
        routes = targets + [Route(chain: chains[0], destination: .none)]
    }

    /// Makes the same generation with other types, for the calls that begin now.
    init(_ other: Generation, types: KnownTypes) {
        number = other.number
        began = other.began
        upstreams = other.upstreams
        asksForUnits = other.asksForUnits
        self.types = types
        table = other.table
        routes = other.routes
        remains = other.remains
        routeCounters = other.routeCounters
        restTable = types.restTable
    }

    deinit {
        // Before the rest is discarded: what interceptors share with others is not to end with them, on this thread.
        routes = []
        // Nor is this thread to free what may be large.
        if let types, types.hasReflected { BlockingThread.types.discard(types) }
    }

    /// What generations that differ only in their types leave when the last of them is gone.
    private final class Remains {
        private let discard: () -> Void

        init(_ discard: @escaping () -> Void) {
            self.discard = discard
        }

        deinit {
            discard()
        }
    }

    /// What takes a call that no route takes: the default chain, and no upstream.
    var fallback: Route { routes[routes.count - 1] }

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
