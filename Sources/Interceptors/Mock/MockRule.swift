internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Protocols
internal import Proxy

/// A rule of a mock: the calls that it is for, and what becomes of them.
final class MockRule: Sendable {
    /// Why a rule is not for a call.
    struct Lack {
        /// How near the rule has come: what comes later in its checks is nearer.
        let depth: Int
        /// What lacks, for people.
        let text: String

        init(depth: Int, text: String) { (self.depth, self.text) = (depth, text) }
        init(depth: Int, asksFor text: String) { self.init(depth: depth, text: "asks for \(text)") }
    }

    /// The number of the rule in its mock.
    let index: Int
    /// What is asked of the head; none asks nothing.
    private let condition: Condition?
    /// What of a caller that depends on.
    let callerParts: Set<String>
    private let url: MockURL?
    /// What is asked of the first message.
    private let json: [JSONCondition]
    private let body: JSONTest?
    /// What is asked of all messages.
    private let messages: [[JSONCondition]]?
    /// What tells a recorded request from others, on a tape.
    private let recorded: TapeIdentity?
    /// How often it applies; none is always.
    let times: Int?
    let state: MockState?
    /// The signal that it raises when it applies.
    let signal: String?
    let script: MockScript
    /// The position in the file, or the number on the tape, for people.
    let place: String
    /// What it is, for people: `the rule at 7:11`.
    let title: String
    let mark: Mark
    /// What lacks of the recording, so that it cannot be played.
    let flaw: String?

    /// Reads a rule and reports what is wrong with it.
    init(_ section: Section, index: Int) {
        self.index = index
        let when = section.section("when")
        let head = ConditionSettings(when)
        condition = head.isEmpty ? nil : Condition(head, into: section.diagnostics)
        callerParts = CallerDependence.parts(of: head)
        url = MockURL(when)
        json = JSONCondition.all(when)
        body = when.node("body").map { JSONTest($0, ofText: true, into: section.diagnostics) }
        messages = JSONCondition.lists("messages", of: when)
        times = section.integer(ifGiven: "times")
        state = section.has("state") ? MockState(section.section("state")) : nil
        signal = section.string(ifGiven: "signal")
        script = MockScript(section)
        mark = section.mark
        place = "\(section.mark)"
        let known = url?.names ?? []
        for name in script.pathNames where !known.contains(name) {
            let advice = known.isEmpty ? "add it to \"template\" of the rule" : Suggestion.text(for: name, among: known)
            section.diagnostics.report("no part of the path is named \(Diagnostic.quote(name)); \(advice)", at: mark)
        }
        title = "the rule at \(place)"
        (recorded, flaw) = (nil, nil)
    }

    /// Reads a call of a tape and reports what is wrong with it.
    init(recorded document: Section, number: Int, index: Int, _ form: TapeForm) {
        self.index = index
        (condition, url, json, body, messages, state, signal) = (nil, nil, [], nil, nil, nil, nil)
        callerParts = Set(form.headers.map { "header:\(String(decoding: $0.bytes, as: UTF8.self))" })
        recorded = TapeIdentity(document, form)
        times = 1
        script = MockScript(recorded: document, form)
        mark = document.mark
        place = "call \(number)"
        title = "call \(number) of the tape"
        flaw = document.string(ifGiven: "incomplete") ?? (document.bool("canceled") ? "the caller left" : nil)
    }

    /// Reports a rule whose script would get no messages, since another of these has waited for all.
    static func check(_ rules: [MockRule], into diagnostics: Diagnostics) {
        guard rules.contains(where: { $0.asks == .all }) else { return }
        for rule in rules where rule.script.readsMessages {
            let problem = "another rule of the method waits for all \"messages\", and this script would get none"
            diagnostics.report("\(problem); write \"json\" there, or remove the steps that wait", at: rule.mark)
        }
    }

    /// Reports places and messages that the types of a method do not have.
    func check(_ types: TypeCheck, service: String?, method: String) {
        let places = (json + (messages ?? []).joined()).map(\.place)
        types.check(places + script.places, service: service, method: method)
        for message in script.constants {
            types.check(json: message, .response, service: service, method: method, at: mark)
        }
        if script.count > 1, types.isUnary(service: service, method: method) {
            types.warn("the response has \(script.count) messages, but the call is unary; write one", at: mark)
        }
        for detail in script.ends.flatMap(\.constants) {
            types.check(json: detail.json, ofType: detail.type, at: mark)
        }
    }

    /// What of its responses cannot be made without types, if something cannot.
    var needOfTypes: String? {
        if script.needsTypes { return "\"fake\"" }
        let types = script.ends.flatMap(\.constants).map(\.type)
        return types.first { !TypeCheck.isKnown(detail: $0) }.map { "the detail \($0)" }
    }

    /// Whether it applies to every call, always.
    var isForAll: Bool {
        condition == nil && url == nil && asks == .head && times == nil && state == nil && recorded == nil
    }

    /// Whether it asks for what plain HTTP has.
    var isOfPlainHTTP: Bool { url != nil || script.isPlain }

    /// The call that was recorded, if the rule is one of a tape.
    var recordedCall: [UInt8]? { recorded?.call }

    /// The place and the key of the value that it asks for, if it asks for no head and this first.
    var equality: (pointer: JSONPointer, key: [UInt8])? {
        condition == nil && url == nil ? json.first?.equality : nil
    }

    /// How much of a request it asks for.
    var asks: MockContext.Known {
        if messages != nil { return .all }
        let isFirst = !json.isEmpty || body != nil || state?.of.asksMessage == true || recorded != nil
        return isFirst ? .first : .head
    }

    /// What is the same for first messages that count as equal to the recorded one; none if several may.
    var firstKey: Int? { recorded?.firstKey }

    /// The places of messages that may be otherwise than recorded.
    var ignoredPlaces: [JSONPointer] { recorded?.form.ignored ?? [] }

    /// The signals that its script waits for.
    var awaitedSignals: [String] { script.awaitedSignals }

    /// What of the head of a call is not as the rule asks; none if all is.
    func lackOfHead(_ context: MockContext) -> Lack? {
        let call = context.call
        if let recorded, !recorded.isOf(call) {
            return Lack(depth: 0, asksFor: String(decoding: recorded.call, as: UTF8.self))
        }
        if let text = recorded?.lackOfHead(call) { return Lack(depth: 1, asksFor: text) }
        if let condition, !condition.holds(for: call) {
            // The path is right then, or nothing is asked of it.
            let isNear = condition.reaches(call)
            return Lack(depth: isNear ? 3 : 0, asksFor: condition.lack(of: call) ?? "another call")
        }
        return url?.lack(of: call, context.query)
    }

    /// What of the first message is not as the rule asks; none if all is.
    func lackOfMessage(_ context: MockContext) -> Lack? {
        if let lack = recorded?.lackOfMessage(context) {
            // The fewer differences there are, the nearer it is.
            return Lack(depth: 100 - lack.count, asksFor: lack.text)
        }
        if let index = context.failing(json, for: context.firstMessage) {
            return Lack(depth: 5 + index, asksFor: json[index].lack)
        }
        if let messages, let text = Self.lack(messages, context) { return Lack(depth: 5, asksFor: text) }
        guard let body, !body.holds(for: .string(String(decoding: context.payload, as: UTF8.self))) else {
            return nil
        }
        return Lack(depth: 5, asksFor: "another body")
    }

    private static func lack(_ messages: [[JSONCondition]], _ context: MockContext) -> String? {
        guard let all = context.messages else { return "messages that are shorter" }
        guard all.count == messages.count else { return "\(messages.count) messages" }
        for (index, message) in all.enumerated() {
            let wrong = context.failing(messages[index], in: message)
            if let wrong { return "\(messages[index][wrong].lack) of message \(index + 1)" }
        }
        return nil
    }

    /// The parts of a call's path that the rule names.
    func captures(of call: Call) -> [String: [UInt8]] { url?.captures(of: call) ?? [:] }
}

/// The state that a rule asks for, and the one that it leaves, for each value of a key apart.
struct MockState: Sendable {
    /// What every key has at first.
    static let first = "start"

    let of: MockText
    let required: String?
    let next: String?

    init(_ section: Section) {
        of = MockText(section.string("of"), at: section.mark(of: "of"), into: section.diagnostics)
        if of.neededMessages > 1 {
            section.report("\"of\" knows the first message alone; write for example {json:/id}", at: "of")
        }
        required = section.string(ifGiven: "is")
        next = section.string(ifGiven: "becomes")
        if required == nil, next == nil {
            section.diagnostics.report("the state has no effect; add \"is\" or \"becomes\"", at: section.mark)
        }
    }
}
