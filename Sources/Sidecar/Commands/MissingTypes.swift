internal import Configuration
internal import Types

/// The services and methods that a configuration names and has no types of.
struct MissingTypes {
    /// A service or a method, and where it is named first.
    private struct Missing {
        let name: String
        let mark: Mark
    }

    private var all: [Missing] = []

    /// Looks at the conditions of routes and interceptors.
    init(_ settings: Settings, _ types: TypeSet) {
        let services = Dictionary(types.services.map { ($0.name, $0) }) { first, _ in first }
        let chains = [settings.interceptors] + settings.chains.map(\.items)
        let conditions = settings.routes.compactMap(\.match) + chains.joined().compactMap(\.when)
        var seen: Set<String> = []
        for service in settings.types.rest where services[service.text] == nil && seen.insert(service.text).inserted {
            all.append(Missing(name: service.text, mark: service.mark))
        }
        for condition in conditions.sorted(by: { $0.mark < $1.mark }) {
            for service in condition.services {
                let methods = services[service]?.methods.map(\.name)
                let unknown = condition.methods.filter { methods?.contains($0) == false }
                let names = methods == nil ? [service] : unknown.map { "\(service)/\($0)" }
                for name in names where seen.insert(name).inserted {
                    all.append(Missing(name: name, mark: condition.mark))
                }
            }
        }
    }

    /// The lines about them; none if nothing is missing.
    func lines(file: String) -> [String] {
        guard !all.isEmpty else { return [] }
        let width = all.map(\.name.count).max() ?? 0
        return ["missing, though the configuration names them:"]
            + all.map { missing in
                let name = missing.name + String(repeating: " ", count: width - missing.name.count)
                return "  \(name)  \(file):\(missing.mark.line):\(missing.mark.column)"
            }
    }
}
