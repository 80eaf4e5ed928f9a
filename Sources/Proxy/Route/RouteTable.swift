internal import Bytes
internal import Configuration
internal import Dialects
internal import HTTP

/// Finds the first route that takes a call, however many there are.
///
/// Routes lie in tables by what is exact about them: service and method, service, or path. A call looks up its own keys
/// and then tries, in the order of the file, those found and the few that have nothing exact. Keys are hashes: what two
/// keys share by accident, the routes' conditions tell apart.
final class RouteTable {
    /// What takes a call that no route takes: the default chain, and no upstream.
    let fallback: Route
    private let routes: [Route]
    private var byProcedure: [UInt64: [Int]] = [:]
    private var byService: [UInt64: [Int]] = [:]
    private var byPath: [UInt64: [Int]] = [:]
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
        } else if !settings.paths.isEmpty, settings.paths.allSatisfy({ $0.last != "/" }) {
            for path in settings.paths { byPath[Self.key(path), default: []].append(index) }
        } else {
            general.append(index)
        }
    }

    /// The first route that takes the call.
    func route(for call: Call) -> Route {
        if byProcedure.isEmpty, byService.isEmpty, byPath.isEmpty {
            for index in general where takes(index, call) { return routes[index] }
            return fallback
        }
        var best = Int.max
        consider(general, call, &best)
        let request = call.request
        let path = request.path
        if !byPath.isEmpty { consider(byPath[path.fnv1a], call, &best) }
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

    private static func key(_ text: String) -> UInt64 {
        Array(text.utf8).span.fnv1a
    }

    private func takes(_ index: Int, _ call: Call) -> Bool {
        routes[index].condition?.holds(for: call) ?? true
    }
}
