internal import Configuration
internal import Types

/// The methods whose calls some conditions let through: those of one of them at least.
struct MethodScope {
    /// Whether a condition asks nothing about the method.
    private var hasAll = false
    /// Whether calls of plain HTTP may be let through.
    private(set) var hasPlain = false
    private var services: Set<String> = []
    private var methods: Set<String> = []
    private var procedures: Set<String> = []
    private var paths: Set<String> = []
    /// Those that ask for more than one of these, or for the beginning of a path.
    private var others: [ConditionSettings] = []

    /// The methods that one of the conditions lets through; none is a condition that asks nothing.
    init(_ conditions: some Sequence<ConditionSettings?>) {
        for condition in conditions { add(condition) }
    }

    private mutating func add(_ condition: ConditionSettings?) {
        guard let condition, condition.protocols != ["http"] else {
            if condition == nil { hasAll = true }
            hasPlain = true
            return
        }
        let namesProcedure = !condition.services.isEmpty || !condition.methods.isEmpty
        if !namesProcedure, condition.protocols.isEmpty || condition.protocols.contains("http") { hasPlain = true }
        switch (namesProcedure, condition.paths.isEmpty) {
        case (false, true): hasAll = true
        case (false, false) where condition.paths.allSatisfy({ $0.last != "/" }): paths.formUnion(condition.paths)
        case (true, true) where condition.methods.isEmpty: services.formUnion(condition.services)
        case (true, true) where condition.services.isEmpty: methods.formUnion(condition.methods)
        case (true, true):
            for service in condition.services {
                for method in condition.methods { procedures.insert("/\(service)/\(method)") }
            }
        default: others.append(condition)
        }
    }

    /// Whether calls of a method may be let through.
    func contains(_ method: MethodType, of service: ServiceType) -> Bool {
        guard !hasAll, !services.contains(service.name), !methods.contains(method.name) else { return true }
        let path = "/\(service.name)/\(method.name)"
        guard !procedures.contains(path), !paths.contains(path) else { return true }
        return others.contains { condition in
            (condition.services.isEmpty || condition.services.contains(service.name))
                && (condition.methods.isEmpty || condition.methods.contains(method.name))
                && condition.paths.contains { $0.last == "/" ? path.hasPrefix($0) : path == $0 }
        }
    }
}
