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
    private(set) var fallback: Route
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
    private var routes: [Route]
    private let discard: () -> Void
    /// What the calls of each route are counted under; empty if no route has a name.
    private let routeCounters: [RouteCounter]

    /// Makes a generation of the number that `settings` were loaded as.
    ///
    /// - Parameters:
    ///   - settings: the configuration.
    ///   - number: its number.
    ///   - chains: its chains, compiled.
    ///   - table: its routes.
    ///   - upstreams: its upstreams, by their names.
    ///   - counters: where its calls are counted.
    ///   - discard: called when no call goes by it any more.
    init(
        _ settings: Settings,
        number: Int,
        chains: (default: CompiledChain, named: [String: CompiledChain]),
        routes table: RouteTable,
        upstreams: [String: Upstream],
        counters: WorkerCounters,
        discard: @escaping () -> Void
    ) {
        self.number = number
        self.upstreams = upstreams
        self.table = table
        self.discard = discard
        fallback = Route(chain: chains.default, upstream: nil)
        let items = settings.interceptors + settings.chains.flatMap(\.items)
        asksForUnits = table.asksForUnits || items.contains { $0.when?.peerUnits.isEmpty == false }
        routeCounters = table.names.enumerated().map { number, name in
            name.map { counters.route(named: $0) } ?? .number(number)
        }
        routes = table.targets.map { target in
            Route(
                chain: target.chain.flatMap { chains.named[$0] } ?? chains.default,
                upstream: target.upstream.flatMap { upstreams[$0] }
            )
        }
    }

    deinit {
        // Before the rest is discarded: what interceptors share with others is not to end with them, on this thread.
        routes = []
        fallback = Route(chain: CompiledChain([]), upstream: nil)
        discard()
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
