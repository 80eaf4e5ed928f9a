internal import Bytes
public import Configuration
public import Protocols
package import Types

/// The plan of an interceptor that names methods and messages: `check` has it compared with the known types.
public protocol Typed: InterceptorPlan {
    /// Reports what the types do not have.
    func check(_ types: TypeCheck)
    /// Warns of what needs types, as the file has none.
    func checkWithoutTypes(into diagnostics: Diagnostics)
}

/// Compares what a file has of methods and messages with the types that are known, and reports what does not fit.
public struct TypeCheck {
    private let types: TypeSet
    private let diagnostics: Diagnostics
    private let codec = MessageCodec()

    /// Compares with some types.
    package init(_ types: TypeSet, into diagnostics: Diagnostics) {
        (self.types, self.diagnostics) = (types, diagnostics)
    }

    /// Warns of a service that is almost called as a known one, and of methods that a known service does not have.
    ///
    /// - Parameters:
    ///   - service: the service; none may be any.
    ///   - methods: names of methods and where they stand.
    ///   - mark: where the service stands.
    public func check(service: String?, methods: [MarkedString], at mark: Mark) {
        let known = types.services.filter { service == nil || $0.name == service }
        if let service, known.isEmpty {
            guard let guess = Suggestion.nearest(to: service, among: types.services.map(\.name)) else { return }
            return diagnostics.warn(
                "no service is named \(Diagnostic.quote(service)); did you mean \(guess)?",
                at: mark
            )
        }
        let names = known.flatMap { $0.methods.map(\.name) }
        for method in methods where !names.contains(method.text) {
            // Another upstream may have a service that nobody knows here.
            let guess = Suggestion.nearest(to: method.text, among: names)
            guard service != nil || guess != nil else { continue }
            let subject = service.map { "\($0) has no method" } ?? "no service has a method"
            let problem = "\(subject) \(Diagnostic.quote(method.text))"
            let advice = guess.map { "did you mean \($0)?" } ?? "its methods are \(names.joined(separator: ", "))"
            diagnostics.warn("\(problem); \(advice)", at: method.mark)
        }
    }

    /// Warns of places that no message of a method has.
    public func check(_ places: [MessagePlace], service: String?, method: String?) {
        let check = PlaceCheck(types, into: diagnostics)
        let methods = methods(service, method)
        for place in places { check.check(place, methods, hasPlain: false) }
    }

    /// Reports a message that is not of the type that a method sends or takes.
    ///
    /// - Parameters:
    ///   - json: the message, as JSON.
    ///   - direction: who sends it.
    ///   - service: the service; none may be any.
    ///   - method: the name of the method.
    ///   - mark: where the message stands.
    public func check(json: [UInt8], _ direction: Direction, service: String?, method: String, at mark: Mark) {
        let possible = methods(service, method).map { direction == .request ? $0.request : $0.response }
        var first: String?
        for type in possible {
            guard let problem = problem(of: json, type) else { return }
            if first == nil { first = "the message is not valid: \(problem)" }
        }
        if let first { diagnostics.report(first, at: mark) }
    }

    /// Reports a message that is not of a type, if that is known.
    public func check(json: [UInt8], ofType name: String, at mark: Mark) {
        let own = ErrorDetailTypes.set?.message(named: name)
        guard let type = types.message(named: name) ?? own else {
            let known = types.messageNames + (ErrorDetailTypes.set?.messageNames ?? [])
            let advice =
                Suggestion.nearest(to: name, among: known).map { "did you mean \($0)?" } ?? "add it to \"types\""
            return diagnostics.report("the type \(name) of a detail is unknown; \(advice)", at: mark)
        }
        guard let problem = problem(of: json, type) else { return }
        diagnostics.report("the detail is not valid: \(problem)", at: mark)
    }

    /// Whether the type of a detail is known without a file.
    public static func isKnown(detail name: String) -> Bool { ErrorDetailTypes.set?.message(named: name) != nil }

    /// Whether a method is known, and none of its name responds with a stream.
    public func isUnary(service: String?, method: String) -> Bool {
        let possible = methods(service, method)
        return !possible.isEmpty && !possible.contains(where: \.responseStreams)
    }

    /// Warns of something else.
    public func warn(_ text: String, at mark: Mark) { diagnostics.warn(text, at: mark) }

    private func methods(_ service: String?, _ method: String?) -> [MethodType] {
        types.services.filter { service == nil || $0.name == service }.flatMap(\.methods)
            .filter { method == nil || $0.name == method }
    }

    private func problem(of json: [UInt8], _ type: MessageType) -> String? {
        do throws(MessageError) {
            let known = types.message(named: type.name) == nil ? ErrorDetailTypes.set ?? types : types
            try codec.appendMessage(ofJSON: json.span, type, known, limit: 4 << 20, to: ByteQueue())
            return nil
        } catch {
            return error.description
        }
    }
}
