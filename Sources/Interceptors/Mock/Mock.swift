internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC

/// What serves calls in place of a server.
final class Mock: Sendable {
    /// What becomes of a call that no rule is for.
    enum Unmatched: String, Sendable {
        case empty, unimplemented, next
    }

    /// What is known of the rule for a call.
    enum Choice {
        case rule(MockRule)
        /// It depends on the first message.
        case message
        /// There is none; what lacks of the nearest one, for people.
        case none(String)
    }

    let name: String
    let unmatched: Unmatched
    private let service: [UInt8]?
    private let methods: [(name: [UInt8], rules: [MockRule])]
    private let rules: [MockRule]

    /// Reads a mock and reports what is wrong with it.
    init(_ settings: MockSettings, into diagnostics: Diagnostics) {
        let section = Section(settings.node, MockSettings.options, into: diagnostics)
        name = settings.name
        unmatched = Unmatched(rawValue: section.string("unmatched")) ?? .empty
        service = section.string(ifGiven: "service").map { Array($0.utf8) }
        methods = Self.methods(section)
        rules = section.sections("rules").map(MockRule.init)
    }

    private static func methods(_ section: Section) -> [(name: [UInt8], rules: [MockRule])] {
        guard let node = section.node("methods") else { return [] }
        guard let entries = node.entries else {
            section.report("\"methods\" cannot be \(node.summary); write a mapping of names to rules", at: "methods")
            return []
        }
        return entries.map { entry in
            var rules: [Node] = []
            switch entry.value.content {
            case .sequence(let items): rules = items
            case .mapping: rules = [entry.value]
            case .null: break
            case .scalar:
                section.diagnostics.report(
                    "the rules of a method cannot be \(entry.value.summary); write a list of rules",
                    at: entry.value.mark
                )
            }
            let sections = rules.map { Section($0, MockSettings.ruleOptions, into: section.diagnostics) }
            return (Array(entry.key.utf8), sections.map(MockRule.init))
        }
    }

    /// Whether a call is one of its own: of its service, if it names one.
    func isFor(_ call: Call) -> Bool {
        guard let service else { return true }
        let request = call.request
        guard let procedure = call.rpcProcedure else { return false }
        return request.path.extracting(procedure.service).equals(service)
    }

    /// The rule for a call, as far as that is known.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - message: its first message, if that is JSON.
    ///   - isKnown: whether the first message has come, or none will.
    ///   - isProtoJSON: whether it is the ProtoJSON of a known type.
    /// - Returns: the rule, of which one application is taken.
    func choose(_ call: Call, _ message: JSONValue?, isKnown: Bool, isProtoJSON: Bool) -> Choice {
        var lack = "it has no rule for the method"
        for rule in candidates(call) {
            guard !rule.asksMessage || isKnown else { return .message }
            if let place = rule.lack(of: message, isProtoJSON) {
                lack = "the rule at \(rule.mark) asks for another value at \(place)"
            } else if rule.take() {
                return .rule(rule)
            } else {
                lack = "the rule at \(rule.mark) has applied as often as it may"
            }
        }
        return .none(lack)
    }

    private func candidates(_ call: Call) -> [MockRule] {
        let request = call.request
        var list = rules
        if let procedure = call.rpcProcedure {
            let method = request.path.extracting(procedure.method)
            list = (methods.first { method.equals($0.name) }?.rules ?? []) + rules
        }
        return list.filter { $0.holds(for: call) }
    }
}
