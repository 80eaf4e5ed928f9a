internal import Configuration
internal import Documents
internal import Protocols
internal import Types

/// Warns of places in messages that no message of the known types has.
struct PlaceCheck {
    private let types: TypeSet
    private let diagnostics: Diagnostics

    /// Checks by what `types` has.
    init(_ types: TypeSet, into diagnostics: Diagnostics) {
        (self.types, self.diagnostics) = (types, diagnostics)
    }

    /// Checks the interceptors of a chain.
    ///
    /// - Parameters:
    ///   - chain: the interceptors.
    ///   - items: what the file has of them.
    ///   - conditions: what the routes to the chain ask of calls; none is nothing.
    func check(_ chain: ChainPlan, _ items: [ChainItem], routes conditions: [ConditionSettings?]) {
        let all = chain.links.compactMap { link in
            (link.interceptor as? any Pointing).map { (name: link.name, places: $0.places) }
        }
        guard all.contains(where: { !$0.places.isEmpty }) else { return }
        let scope = MethodScope(conditions)
        for (name, places) in all {
            guard let item = items.first(where: { $0.name == name }) else { continue }
            let own = MethodScope(CollectionOfOne(item.when))
            let methods = types.services.flatMap { service in
                service.methods.filter { scope.contains($0, of: service) && own.contains($0, of: service) }
            }
            let hasPlain = scope.hasPlain && own.hasPlain
            for place in places { check(place, methods, hasPlain: hasPlain) }
        }
    }

    /// Checks one place of the messages of some methods.
    func check(_ place: MessagePlace, _ methods: [MethodType], hasPlain: Bool) {
        let tokens = place.pointer.tokens
        var messages: [MessageType] = []
        for method in methods {
            if place.direction != .response { messages.append(method.request) }
            if place.direction != .request { messages.append(method.response) }
        }
        guard !messages.isEmpty, !Self.isOfError(place) else { return }
        let naming = place.use == .change ? MessageType.Naming.changed : .read
        let others = place.pointer.protoTokens
        guard !messages.contains(where: { $0.hasPlace(tokens, naming) || $0.hasPlace(others, naming) }) else { return }
        let guess = messages.lazy.compactMap { $0.nearestPlace(tokens, by: Suggestion.nearest) }.first
        if let guess {
            diagnostics.warn("no message has \(place.text); did you mean \(Self.text(guess))?", at: place.mark)
        } else if place.use != .body || !hasPlain {
            let advice = "write the place of a field, or name the services of the interceptor in \"when\""
            diagnostics.warn("no message has \(place.text); \(advice)", at: place.mark)
        }
    }

    /// Whether the JSON of errors has it.
    private static func isOfError(_ place: MessagePlace) -> Bool {
        guard place.direction != .request, place.use == .messageOrError || place.use == .body else { return false }
        return ["code", "message", "details"].contains(place.pointer.tokens.first)
    }

    private static func text(_ tokens: [String]) -> String {
        tokens.map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
    }
}
