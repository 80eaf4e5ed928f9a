internal import Bytes
package import Configuration
internal import HTTP
internal import Protocols

/// Finds the first route that takes a call, however many there are.
///
/// Routes lie in tables by what is exact about them: service and method, service, path, or how a path begins. A call looks
/// up its own keys and then tries, in the order of the file, those found and the few that have nothing exact. Keys are hashes: what two
/// keys share by accident, the routes' conditions tell apart.
///
/// One worker uses it. It is made on another thread and goes back there to be emptied, so that the calls of the worker do not
/// wait meanwhile; that it is never in two hands at a time, the compiler does not see.
package final class RouteTable: @unchecked Sendable {
    /// What routes name.
    struct Target: Hashable {
        /// A chain, by its name; nil for the default one.
        let chain: String?
        let upstream: String?
    }

    /// Whether a route asks for the systemd unit of callers.
    let asksForUnits: Bool
    /// What the routes name, each once.
    let targets: [Target]
    /// Where in `targets` that of each route is.
    private let targetIndices: [Int]
    /// The name of each route, as logs write it; empty if no route has a name.
    private(set) var names: [[UInt8]?]
    /// The calls that each route takes; nil for all.
    private var conditions: [Condition?]
    private var byProcedure: [UInt64: Int32] = [:]
    private var byService: [UInt64: Int32] = [:]
    private var byPath: [UInt64: Int32] = [:]
    private var byPrefix: [UInt64: Int32] = [:]
    /// A route that has a key, and the place of the next one with the same key; -1 if there is none.
    ///
    /// All tables name places in here: a list for each key would be thousands of objects.
    private var entries: [(route: Int32, next: Int32)] = []
    /// How many slashes the longest prefix has: what is behind so many of a path is no key.
    private var maxDepth = 0
    /// The first of those that have nothing exact.
    private var general: Int32 = -1

    /// Compiles what the routes of checked settings ask of a call.
    package init(_ routes: [RouteSettings]) {
        let diagnostics = Diagnostics()
        conditions = routes.map { route in route.match.map { Condition($0, into: diagnostics) } }
        assert(diagnostics.isEmpty, "settings must be checked before they become a route table")
        let isNamed = routes.contains { $0.name != nil }
        names = isNamed ? routes.map { route in route.name.map { Array($0.text.utf8) } } : []
        asksForUnits = routes.contains { $0.match?.peerUnits.isEmpty == false }
        var (targets, indexes): ([Target], [Target: Int]) = ([], [:])
        targetIndices = routes.map { route in
            let target = Target(chain: route.chain, upstream: route.upstream)
            if let index = indexes[target] { return index }
            indexes[target] = targets.count
            targets.append(target)
            return targets.count - 1
        }
        self.targets = targets
        // From the last on, so that the list of a key begins with the first.
        for index in routes.indices.reversed() { add(Int32(index), routes[index].match) }
    }

    private func add(_ route: Int32, _ settings: ConditionSettings?) {
        guard let settings else { return addGeneral(route) }
        if !settings.services.isEmpty, !settings.methods.isEmpty {
            for service in settings.services {
                for method in settings.methods { add(route, "\(service)/\(method)", to: &byProcedure) }
            }
        } else if !settings.services.isEmpty {
            for service in settings.services { add(route, service, to: &byService) }
        } else if !settings.paths.isEmpty {
            for path in settings.paths { add(route, path: path) }
        } else {
            addGeneral(route)
        }
    }

    private func add(_ route: Int32, path: String) {
        guard path.last == "/" else { return add(route, path, to: &byPath) }
        add(route, path, to: &byPrefix)
        maxDepth = max(maxDepth, path.utf8.count { $0 == UInt8(ascii: "/") })
    }

    private func add(_ route: Int32, _ key: String, to table: inout [UInt64: Int32]) {
        let key = Array(key.utf8).span.fnv1a
        entries.append((route, table[key] ?? -1))
        table[key] = Int32(entries.count - 1)
    }

    private func addGeneral(_ route: Int32) {
        entries.append((route, general))
        general = Int32(entries.count - 1)
    }

    /// Frees the thousands of objects there may be; no call asks any more.
    package func empty() {
        conditions = []
        names = []
    }

    /// Where in `targets` that of a route is.
    func target(of route: Int) -> Int { targetIndices[route] }

    /// Whether a route names services or methods.
    func namesProcedure(_ route: Int) -> Bool { conditions[route]?.namesProcedure ?? false }

    /// What the first route that takes the call is in the file, from 0; nil if none does.
    func route(for call: Call) -> Int? {
        var best = Int32.max
        consider(general, call, &best)
        let request = call.request
        let path = request.path
        if !byPath.isEmpty || !byPrefix.isEmpty {
            request.withNormalPath { path in
                consider(byPath[path.fnv1a], call, &best)
                if !byPrefix.isEmpty { considerPrefixes(of: path, call, &best) }
            }
        }
        if !byProcedure.isEmpty || !byService.isEmpty, let procedure = call.rpcProcedure {
            let full = path.extracting(procedure.service.lowerBound..<procedure.method.upperBound)
            consider(byProcedure[full.fnv1a], call, &best)
            consider(byService[path.extracting(procedure.service).fnv1a], call, &best)
        }
        return best == .max ? nil : Int(best)
    }

    private func consider(_ first: Int32?, _ call: Call, _ best: inout Int32) {
        var index = first ?? -1
        while index >= 0 {
            let (route, next) = entries[Int(index)]
            guard route < best else { return }
            if conditions[Int(route)]?.holds(for: call) ?? true { best = route }
            index = next
        }
    }

    /// Looks for what ends in each slash of a path, from the first on.
    private func considerPrefixes(of path: Span<UInt8>, _ call: Call, _ best: inout Int32) {
        var hash = FNV1a()
        var slashes = 0
        for index in 0..<path.count where slashes < maxDepth {
            hash.add(path[index])
            guard path[index] == UInt8(ascii: "/") else { continue }
            slashes += 1
            consider(byPrefix[hash.value], call, &best)
        }
    }
}
