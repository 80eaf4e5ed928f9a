internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC

/// What serves calls in place of a server.
final class Mock: Sendable {
    /// What becomes of a call that no rule is for.
    enum Unmatched: String, Sendable {
        case empty, unimplemented, next, fake
    }

    /// What is known of the rule for a call.
    enum Choice {
        case rule(MockRule)
        /// It depends on the first message.
        case message
        /// No rule applies.
        case none(MockMiss)
    }

    let name: String
    let settings: MockSettings
    let unmatched: Unmatched
    /// How many keys have states of their own.
    let keyLimit: Int
    /// How many bytes the journal may take.
    let journalLimit: Int
    /// All rules, by their numbers.
    let rules: [MockRule]
    /// The signals that its scripts wait for.
    let signals: [String]
    /// The numbers of the messages that its texts name.
    let messageNumbers: Set<Int>
    /// The maximum number of bytes of messages that a call keeps for texts and rules that name them.
    let heldMessagesLimit: Int
    private let service: MarkedString?
    /// The methods that have rules of their own, and the numbers of these.
    private let methods: [(name: MarkedString, rules: Range<Int>)]
    /// What it plays back, if that is a tape.
    let tape: Tape?
    /// The rules of each call of a tape.
    private let byCall: [[UInt8]: TapeList]
    /// For each method its rules, and then those of all methods.
    private let byMethod: [[UInt8]: MockRuleList]
    /// The rules of all methods.
    private let general: MockRuleList

    /// Reads a mock and reports what is wrong with it.
    init(_ settings: MockSettings, into diagnostics: Diagnostics) {
        let section = Section(settings.node, MockSettings.options, into: diagnostics)
        name = settings.name
        self.settings = settings
        let named = section.string(ifGiven: "unmatched").flatMap(Unmatched.init)
        unmatched = named ?? (section.has("tape") ? .unimplemented : .empty)
        service = section.string(ifGiven: "service").map { MarkedString($0, at: section.mark(of: "service")) }
        messageNumbers = MockMessageNumbers.all(in: settings.node)
        keyLimit = section.integer("keys")
        journalLimit = section.size("journal")
        heldMessagesLimit = section.size("held_messages")
        var rules: [MockRule] = []
        let methods = Self.methods(section).map { method in
            let start = rules.count
            for rule in method.rules { rules.append(MockRule(rule, index: rules.count)) }
            return (name: method.name, rules: start..<rules.count)
        }
        self.methods = methods
        let start = rules.count
        for rule in section.sections("rules") { rules.append(MockRule(rule, index: rules.count)) }
        let general = Array(start..<rules.count)
        if service != nil {
            for index in general where rules[index].isOfPlainHTTP {
                let advice = "write the rule in a mock without \"service\""
                section.diagnostics.warn(
                    "plain HTTP is of no service, and passes by the mock; \(advice)",
                    at: rules[index].mark
                )
            }
        }
        tape = Tape(section)
        if let tape { rules = tape.rules }
        self.rules = rules
        let recorded = Dictionary(grouping: rules.filter { $0.recordedCall != nil }) { $0.recordedCall ?? [] }
        byCall = recorded.mapValues { [rules] in TapeList($0.map(\.index), of: rules) }
        byMethod = Dictionary(methods.map { (Array($0.name.text.utf8), $0.rules) }) { first, _ in first }
            .mapValues { [rules] in MockRuleList($0 + general, of: rules) }
        self.general = MockRuleList(general, of: rules)
        Self.warn(methods.map { rules[$0.rules] } + [rules[start...]], into: section.diagnostics)
        for list in byMethod.values + [self.general] {
            MockRule.check(list.all.map { rules[$0] }, into: section.diagnostics)
        }
        asks = rules.map(\.asks).max() ?? .head
        signals = Set(rules.flatMap(\.awaitedSignals)).sorted()
    }

    /// Warns of rules that never apply.
    private static func warn(_ lists: [ArraySlice<MockRule>], into diagnostics: Diagnostics) {
        for list in lists where list.first?.recordedCall == nil {
            guard let all = list.dropLast().first(where: \.isForAll) else { continue }
            diagnostics.warn("the rules behind this one never apply; move it to the end, or add \"when\"", at: all.mark)
        }
        let states = lists.joined().compactMap(\.state)
        let left = states.compactMap(\.next) + [MockState.first]
        for rule in lists.joined() {
            guard let required = rule.state?.required, !left.contains(required) else { continue }
            let advice = Suggestion.text(for: required, among: left)
            diagnostics.warn("no rule leaves the state \(Diagnostic.quote(required)); \(advice)", at: rule.mark)
        }
    }

    private static func methods(_ section: Section) -> [(name: MarkedString, rules: [Section])] {
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
            return (MarkedString(entry.key, at: entry.keyMark), sections)
        }
    }

    /// What of a caller its responses depend on, as `CallerDependence` names it.
    var callerParts: Set<String> {
        rules.reduce(CallerDependence.parts(of: settings.node)) { $0.union($1.callerParts) }
    }

    /// How much of a request some rule asks for.
    let asks: MockContext.Known

    /// Whether a rule sends a response that is not translated.
    var hasRawRules: Bool { rules.contains(where: \.script.isRaw) }

    /// Whether a call is one of its own: of its service, if it names one.
    func isFor(_ call: Call) -> Bool {
        guard let service else { return true }
        let request = call.request
        guard let procedure = call.rpcProcedure else { return false }
        return request.path.extracting(procedure.service).equals(service.text.utf8.span)
    }

    /// Warns of responses that need types, as the file has none.
    func checkWithoutTypes(isFake: Bool, into diagnostics: Diagnostics) {
        for rule in rules {
            guard let need = rule.needOfTypes else { continue }
            diagnostics.warn("\(need) needs the types of messages; add \"types\"", at: rule.mark)
        }
        guard isFake else { return }
        diagnostics.warn("\"unmatched: fake\" needs the types of messages; add \"types\"", at: settings.mark)
    }

    /// Reports methods, places and messages that the known types do not have.
    func check(_ types: TypeCheck) {
        let mark = service?.mark ?? settings.mark
        types.check(service: service?.text, methods: methods.map(\.name), at: mark)
        for (name, numbers) in methods {
            for rule in rules[numbers] { rule.check(types, service: service?.text, method: name.text) }
        }
    }

    /// The rule for a call, as far as that is known.
    ///
    /// - Parameters:
    ///   - context: the call, and its messages as far as they have come.
    ///   - memory: what counts the applications of rules.
    /// - Returns: the rule, which has been applied.
    func choose(_ context: MockContext, _ memory: MockMemory) -> Choice {
        guard let tape, tape.order == .recorded else { return choose(candidates(context), context, memory) }
        // The next one must be this, whatever it is; another worker may have been faster.
        while let next = memory.nextUnplayed {
            let choice = choose([next], context, memory)
            guard case .none = choice, memory.nextUnplayed != next else { return choice }
        }
        if tape.repeats, let last = rules.last(where: { $0.flaw == nil }) {
            guard context.known >= last.asks else { return .message }
            if last.lackOfHead(context) ?? last.lackOfMessage(context) == nil { return .rule(last) }
        }
        return .none(MockMiss("all calls of the tape have been played; record more, or write repeat: true"))
    }

    private func choose(_ candidates: [Int], _ context: MockContext, _ memory: MockMemory) -> Choice {
        var nearest: (rule: MockRule, lack: MockRule.Lack)?
        func pass(_ rule: MockRule, _ lack: MockRule.Lack) {
            if lack.depth > nearest?.lack.depth ?? -1 { nearest = (rule, lack) }
        }
        var played: [MockRule] = []
        for index in candidates {
            let rule = rules[index]
            if let lack = rule.lackOfHead(context) {
                pass(rule, lack)
                continue
            }
            if let flaw = rule.flaw {
                pass(rule, MockRule.Lack(depth: 1, text: "cannot be played: \(flaw)"))
                continue
            }
            guard context.known >= rule.asks else { return .message }
            if let lack = rule.lackOfMessage(context) {
                pass(rule, lack)
                continue
            }
            switch memory.apply(rule, key: rule.state?.of.value(context) ?? []) {
            case .applied: return .rule(rule)
            case .usedUp:
                played.append(rule)
                pass(rule, MockRule.Lack(depth: Int.max, text: "has applied as often as it may"))
            case .inState(let state):
                let text = "the state \(rule.state?.required ?? MockState.first), and it is \(state)"
                pass(rule, MockRule.Lack(depth: Int.max, asksFor: text))
            }
        }
        if let tape, let last = played.last {
            if tape.repeats { return .rule(last) }
            let count = played.count == 1 ? "once" : played.count == 2 ? "twice" : "\(played.count) times"
            let text = "the tape has played this call \(count) already; record it again, or write repeat: true"
            return .none(MockMiss(text, nearest: last))
        }
        guard let nearest else { return .none(MockMiss(noRuleText(context.call))) }
        return .none(MockMiss("\(nearest.rule.title) \(nearest.lack.text)", nearest: nearest.rule))
    }

    private func noRuleText(_ call: Call) -> String {
        guard tape != nil else { return "it has no rule for the method" }
        return "the tape has no call of \(call.shownName)"
    }

    private func candidates(_ context: MockContext) -> [Int] {
        let call = context.call
        if tape != nil { return byCall[TapeIdentity.name(of: call)]?.candidates(context) ?? [] }
        let request = call.request
        guard let procedure = call.rpcProcedure else { return general.candidates(context) }
        let list = byMethod[request.path.extracting(procedure.method).array] ?? general
        return list.candidates(context)
    }
}
