internal import Configuration
internal import Types

/// Warns of conditions that name a service or a method as it is almost called, or that its service does not have: no call
/// ever fulfills them.
///
/// A service that no type is known of is no mistake by itself: another upstream may have it.
struct ProcedureCheck {
    private let services: [ServiceType]
    private let diagnostics: Diagnostics

    /// Checks by what `types` has.
    init(_ types: TypeSet, into diagnostics: Diagnostics) {
        services = types.services
        self.diagnostics = diagnostics
    }

    /// Checks the conditions of all routes and interceptors.
    func check(_ settings: Settings) {
        let chains = [settings.interceptors] + settings.chains.map(\.items)
        for condition in settings.routes.compactMap(\.match) + chains.joined().compactMap(\.when) { check(condition) }
    }

    private func check(_ condition: ConditionSettings) {
        for name in condition.services where !services.contains(where: { $0.name == name }) {
            guard let guess = Suggestion.nearest(to: name, among: services.map(\.name)) else { continue }
            warn("no service is named \(Diagnostic.quote(name)); did you mean \(guess)?", condition)
        }
        let named = condition.services.map { name in services.first { $0.name == name } }
        guard !named.contains(where: { $0 == nil }) else { return }
        let isOfSome = !named.isEmpty
        let methods = (isOfSome ? named.compactMap { $0 } : services).flatMap { $0.methods.map(\.name) }
        for name in condition.methods where !methods.contains(name) {
            let guess = Suggestion.nearest(to: name, among: methods)
            guard isOfSome || guess != nil else { continue }
            let subject = isOfSome ? condition.services.joined(separator: " or ") : "no service"
            let problem = isOfSome ? "\(subject) has no method" : "\(subject) has a method"
            let advice = guess.map { "did you mean \($0)?" } ?? "its methods are \(methods.joined(separator: ", "))"
            warn("\(problem) \(Diagnostic.quote(name)); \(advice)", condition)
        }
    }

    private func warn(_ text: String, _ condition: ConditionSettings) {
        diagnostics.warn(text, at: condition.mark)
    }
}
