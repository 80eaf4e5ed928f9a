internal import Bytes
internal import Configuration
internal import Dialects
internal import HTTP

/// Finds the first route that takes a call, however many there are.
///
/// Routes lie in tables by what is exact about them: service and method, service, path, or how a path begins. A call looks
/// up its own keys and then tries, in the order of the file, those found and the few that have nothing exact. Keys are hashes: what two
/// keys share by accident, the routes' conditions tell apart.
final class RouteTable {
    /// What takes a call that no route takes: the default chain, and no upstream.
    let fallback: Route
    private let routes: [Route]
    private var byProcedure: [UInt64: [Int]] = [:]
    private var byService: [UInt64: [Int]] = [:]
    private var byPath: [UInt64: [Int]] = [:]
    private var byPrefix: [UInt64: [Int]] = [:]
    /// How many slashes the longest prefix has: what is behind so many of a path is no key.
    private var deepest = 0
    private var general: [Int] = []

    init(_ routes: [(Route, ConditionSettings?)], fallback: Route) {
        self.fallback = fallback
        self.routes = routes.map(\.0)
        for (index, (_, settings)) in routes.enumerated() { add(index, settings) }
    }

    private func add(_ index: Int, _ settings: ConditionSettings?) {
        guard let settings else { return general.append(index) }
        if !settings.services.isEmpty, !settings.methods.isEmpty {
            for service in settings.services {
                for method in settings.methods {
                    byProcedure[Self.key("\(service)/\(method)"), default: []].append(index)
                }
            }
        } else if !settings.services.isEmpty {
            for service in settings.services { byService[Self.key(service), default: []].append(index) }
        } else if !settings.paths.isEmpty {
            for path in settings.paths { add(index, path) }
        } else {
            general.append(index)
        }
    }

    private func add(_ index: Int, _ path: String) {
        guard path.last == "/" else { return byPath[Self.key(path), default: []].append(index) }
        byPrefix[Self.key(path), default: []].append(index)
        deepest = max(deepest, path.utf8.count { $0 == UInt8(ascii: "/") })
    }

    /// The first route that takes the call.
    func route(for call: Call) -> Route {
        if byProcedure.isEmpty, byService.isEmpty, byPath.isEmpty, byPrefix.isEmpty {
            for index in general where takes(index, call) { return routes[index] }
            return fallback
        }
        var best = Int.max
        consider(general, call, &best)
        let request = call.request
        let path = request.path
        if !byPath.isEmpty { consider(byPath[path.fnv1a], call, &best) }
        if !byPrefix.isEmpty { considerPrefixes(of: path, call, &best) }
        if let procedure = call.classification.procedure {
            let full = path.extracting(procedure.service.lowerBound..<procedure.method.upperBound)
            consider(byProcedure[full.fnv1a], call, &best)
            consider(byService[path.extracting(procedure.service).fnv1a], call, &best)
        }
        return best == .max ? fallback : routes[best]
    }

    private func consider(_ candidates: [Int]?, _ call: Call, _ best: inout Int) {
        guard let candidates else { return }
        for index in candidates {
            guard index < best else { return }
            if takes(index, call) { best = index }
        }
    }

    /// Looks for what ends in each slash of a path, from the first on.
    private func considerPrefixes(of path: Span<UInt8>, _ call: Call, _ best: inout Int) {
        var hash = FNV1a()
        var slashes = 0
        for index in 0..<path.count where slashes < deepest {
            hash.add(path[index])
            guard path[index] == UInt8(ascii: "/") else { continue }
            slashes += 1
            consider(byPrefix[hash.value], call, &best)
        }
    }

    private static func key(_ text: String) -> UInt64 {
        Array(text.utf8).span.fnv1a
    }

    private func takes(_ index: Int, _ call: Call) -> Bool {
        routes[index].condition?.holds(for: call) ?? true
    }
}
