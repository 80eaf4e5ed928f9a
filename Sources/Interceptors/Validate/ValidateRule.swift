internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import Proxy
internal import RPC
internal import Time

/// One rule: for which responses it is, and what becomes of them.
struct ValidateRule: Sendable {
    /// What becomes of a response.
    enum Outcome: Sendable {
        /// It passes as it is.
        case next
        case fail(ValidateError)
        case replace(ValidateReplacement, continues: Bool)
        case retry(RetryPlan)
    }

    let condition: ResponseCondition
    let outcome: Outcome

    /// The rules for the head of the response, if it changes that.
    var headers: HeaderRulesPlan? {
        if case .replace(let replacement, _) = outcome { replacement.headers } else { nil }
    }

    /// The places of messages that it reads.
    var places: [MessagePlace] {
        guard case .fail(let error) = outcome else { return condition.places }
        return condition.places + error.places
    }

    /// Whether it can be applied only when the message has come.
    var needsMessage: Bool {
        switch outcome {
        case .fail(let error): error.needsMessage
        case .replace(let replacement, _): replacement.body != nil
        case .next, .retry: false
        }
    }

    /// Whether it asks about the message, or replaces it.
    var isForMessage: Bool {
        if case .replace(let replacement, _) = outcome, replacement.body != nil { return true }
        return condition.asksMessage
    }

    /// Whether the rule retries the call.
    var isRetry: Bool { if case .retry = outcome { true } else { false } }

    /// Whether it is for the response; nil while that is not known, or it cannot be applied yet.
    func holds(for facts: ResponseFacts) -> Bool? {
        let holds = condition.holds(for: facts)
        return holds == true && needsMessage && !facts.isMessageKnown ? nil : holds
    }

    static let options = [
        Option(
            "when",
            .section(ResponseCondition.options),
            "The responses that the rule applies to. The default is every response of the upstream."
        ),
        Option("next", .section([]), oneOf: outcome, "Passes the response unchanged. Later rules do not apply."),
        Option(
            "fail",
            .section(ValidateError.options),
            oneOf: outcome,
            "Sends an error to the caller instead of the response."
        ),
        Option("replace", .section(ValidateReplacement.options), oneOf: outcome, "Changes the response."),
        Option("retry", .section(RetryPlan.options), oneOf: outcome, "Retries the request."),
        Option(
            "use",
            .choice(["default"]),
            oneOf: outcome,
            "Built-in rules. `default` retries 429 after 3s, and the errors dns, connect, timeout and reset at once."
        ),
        Option("continue", .bool, default: "false", "Applies later rules to the changed response."),
        Option(
            "retriable_status",
            .map,
            example: "{ 429: 3s }",
            "For `default`: the statuses to retry, each with its delay. It replaces the entry for 429."
        ),
        Option(
            "allow_empty",
            .bool,
            default: "true",
            "For `default`: allows responses without a message or body."
        ),
    ]

    private static let outcome = "outcome"

    /// Reads a rule, which may stand for several, and reports what is wrong with it.
    static func rules(_ section: Section, _ shared: SharedRetry) -> [ValidateRule] {
        check(section)
        let condition = ResponseCondition(section.section("when"))
        if section.has("use") { return defaults(section, shared) }
        if section.has("fail") {
            return [ValidateRule(condition: condition, outcome: .fail(ValidateError(section.section("fail"))))]
        }
        if section.has("replace") {
            let replacement = ValidateReplacement(section.section("replace"))
            let continues = section.bool("continue")
            return [ValidateRule(condition: condition, outcome: .replace(replacement, continues: continues))]
        }
        if section.has("retry") {
            return [ValidateRule(condition: condition, outcome: .retry(shared.plan(section, "retry")))]
        }
        return [ValidateRule(condition: condition, outcome: .next)]
    }

    private static func check(_ section: Section) {
        for (key, needed) in [("continue", "replace"), ("retriable_status", "use"), ("allow_empty", "use")]
        where section.has(key) && !section.has(needed) {
            section.reportUnused(key, without: needed)
        }
        guard section.has("use"), section.has("when") else { return }
        section.report("\"use\" has its own conditions; remove \"when\"", at: "when")
    }

    /// The rules that come with Martlet.
    private static func defaults(_ section: Section, _ shared: SharedRetry) -> [ValidateRule] {
        var statuses: [(Int, Duration)] = section.has("retriable_status") ? [] : [(429, 3 * .second)]
        for entry in section.map("retriable_status") {
            let status = Int(entry.name).flatMap { (100...999).contains($0) ? $0 : nil }
            let time = Duration(text: entry.text)
            if status == nil {
                let problem = "\(Diagnostic.quote(entry.name)) is not an HTTP status"
                section.diagnostics.report("\(problem); write for example 429", at: entry.nameMark)
            }
            if time == nil {
                let problem = "\(Diagnostic.quote(entry.text)) is not a duration"
                section.diagnostics.report("\(problem); write for example 3s", at: entry.mark)
            }
            if let status, let time { statuses.append((status, time)) }
        }
        var rules = statuses.map { status, time in
            ValidateRule(condition: ResponseCondition(status: status), outcome: .retry(shared.plan(.delayed(time))))
        }
        let transient = ResponseCondition(errors: [.dns, .connect, .timeout, .reset])
        rules.append(ValidateRule(condition: transient, outcome: .retry(shared.plan(.immediate))))
        if !section.bool("allow_empty") { rules.append(ValidateRule(condition: .empty, outcome: .fail(.empty))) }
        return rules
    }
}

/// The error that a rule makes of a response.
struct ValidateError: Sendable {
    static let options = [
        Option("code", .choice(RPCCode.errorNames), default: "internal", "The code of the error."),
        Option(
            "message",
            .string,
            default: "the response is not valid",
            example: "\"{json:/errorMsg}\"",
            """
            The message of the error. `{json:/…}` stands for a value in the response message, `{status}` for the \
            HTTP status.
            """
        ),
    ]

    private let code: RPCCode
    private let message: Placeholders
    private let mark: Mark

    /// A response with nothing in it.
    static let empty = ValidateError(
        .internal,
        Placeholders("the response is empty", at: .start, into: Diagnostics())
    )

    /// What an upstream says is told so far, in bytes.
    private static let maxMessage = 1024

    private init(_ code: RPCCode, _ message: Placeholders) {
        (self.code, self.message, mark) = (code, message, .start)
    }

    init(_ section: Section) {
        code = RPCCode(name: section.string("code")) ?? .internal
        mark = section.mark(of: "message")
        message = Placeholders(section.string("message"), at: section.mark(of: "message"), into: section.diagnostics)
        for name in message.names where name != "status" && Self.pointer(name) == nil {
            section.report("{\(name)} is unknown; a message can contain {status} and {json:/…}", at: "message")
        }
    }

    /// The places of messages that it reads.
    var places: [MessagePlace] {
        message.names.compactMap { name in
            Self.pointer(name).map { MessagePlace($0, text: String(name.dropFirst(5)), at: mark, .response, .body) }
        }
    }

    var needsMessage: Bool { message.names.contains { $0 != "status" } }

    private static func pointer(_ name: String) -> JSONPointer? {
        name.hasPrefix("json:") ? JSONPointer(String(name.dropFirst(5))) : nil
    }

    func error(status: Int, _ view: MessageView?) -> RPCError {
        let text = message.filled { name in
            if name == "status" { return Array("\(status)".utf8) }
            return Self.pointer(name).flatMap { view?.value(at: $0) }?.text ?? []
        }
        return RPCError(code, String(decoding: (text ?? []).prefix(Self.maxMessage), as: UTF8.self))
    }
}

/// What a rule changes in a response.
struct ValidateReplacement: Sendable {
    static let options = [
        Option("status", .integer(in: 200...599), "The new HTTP status, only in plain HTTP."),
        Option("headers", .section(HeaderRulesPlan.options), "Rules for the headers, as in the interceptor `headers`."),
        Option("json", .node, "The new message or JSON body: a YAML value, or a string of JSON."),
    ]

    let body: [UInt8]?
    private let status: Int?
    let headers: HeaderRulesPlan?

    init(_ section: Section) {
        status = section.integer(ifGiven: "status")
        headers = section.has("headers") ? HeaderRulesPlan(section.section("headers"), prefix: "") : nil
        body = section.json("json")
        guard status == nil, headers == nil, body == nil else { return }
        let advice = "add \"status\", \"headers\" or \"json\""
        section.diagnostics.report("the rule changes nothing; \(advice)", at: section.mark)
    }

    /// Changes the head by `rules`, which a worker has made of `headers`; the status of RPC is not free.
    func apply(_ rules: HeaderRules?, to head: HTTPHead, _ call: Call) {
        if let status, call.rpcProtocol == .http {
            head.status = status
            head.setReason(Span())
        }
        rules?.apply(to: head, for: call)
    }
}

extension JSONValue {
    /// A string, or a number or boolean in letters; none for what has members, and for null.
    var text: [UInt8]? {
        switch self {
        case .string(let text): Array(text.utf8)
        case .integer, .number, .bool: bytes
        case .null, .array, .object: nil
        }
    }
}
