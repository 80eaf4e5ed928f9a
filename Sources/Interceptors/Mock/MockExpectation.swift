public import Configuration
public import Documents
internal import Patterns
internal import Protocols
internal import Proxy

/// What `martlet verify` expects of the calls that a mock has served: which calls, and how many of them.
public struct MockExpectation {
    private let methods: [String]
    private let call: String?
    private let headers: [(name: String, test: JSONTest)]
    private let json: [JSONCondition]
    private let messages: [[JSONCondition]]?
    private let protocols: [String]
    private let code: String?
    private let status: Int?
    private let goesOn: Bool?
    private let rule: String?
    private let isUnmatched: Bool?
    private let isCanceled: Bool?
    private let differs: Bool?
    /// Whether it is about the calls of a tape that were not played.
    private let isUnplayed: Bool
    private let counts: ClosedRange<Int>
    /// Where it stands in its file.
    public let mark: Mark

    /// The keys of an expectation.
    public static let options = [
        Option("method", .strings, example: "Say", "The RPC method, or a list of methods."),
        Option(
            "call",
            .string,
            example: "shop.v1.OrderService/Get",
            "The whole call; `GET /v1/orders` in plain HTTP. A `*` stands for any text."
        ),
        Option("header", .node, shape: .named(.anything), "Conditions on request headers, by their names, as text."),
        Option("json", .node, shape: .named(.anything), "Conditions on the first message, by JSON Pointers."),
        Option("messages", .node, "For each message of the request, in order, its conditions by JSON Pointers."),
        Option("protocol", .choices(ConditionSettings.protocolNames), "The caller's protocol, or a list of protocols."),
        Option("code", .choice(ConditionSettings.codeNames), "The status code of the response."),
        Option("status", .integer(in: 100...599), example: "404", "The HTTP status of a plain HTTP response."),
        Option("rule", .string, example: "7:11", "The position of the rule that applied."),
        Option("unmatched", .bool, "Whether no rule matched."),
        Option("next", .bool, "Whether the call went on to the upstream, since no rule matched."),
        Option("canceled", .bool, "Whether the caller left before the end."),
        Option("differs", .bool, "Whether the live response was not as recorded, for a mock with `diff`."),
        Option("unplayed", .bool, default: "false", "Counts the calls of a tape that were not played, and no others."),
        Option(
            "times",
            .node,
            "The number of calls: a number, `never`, or `{ at_least: … }` and `{ at_most: … }`. The default is at least 1."
        ),
    ]

    /// Reads an expectation; what is wrong is reported.
    public init(_ node: Node, into diagnostics: Diagnostics) {
        let section = Section(node, Self.options, into: diagnostics)
        mark = section.mark
        methods = section.strings("method")
        call = section.string(ifGiven: "call")
        for method in section.markedStrings("method") where method.text.contains("/") {
            diagnostics.report(
                "a method cannot be \(Diagnostic.quote(method.text)); write the name alone, or \"call\"",
                at: method.mark
            )
        }
        if let call, !call.contains("/"), !call.contains("*") {
            let advice = "write for example pkg.Service/Method, or \"*/\(call)\""
            section.report("\"call\" cannot be \(Diagnostic.quote(call)); \(advice)", at: "call")
        }
        if let node = section.node("header"), node.entries == nil {
            section.report("\"header\" cannot be \(node.summary); write a mapping of names to values", at: "header")
        }
        headers = (section.node("header")?.entries ?? []).map {
            ($0.key.lowercased(), JSONTest($0.value, ofText: true, into: diagnostics))
        }
        json = JSONCondition.all(section)
        messages = JSONCondition.lists("messages", of: section)
        protocols = section.strings("protocol")
        code = section.string(ifGiven: "code")
        status = section.integer(ifGiven: "status")
        goesOn = section.has("next") ? section.bool("next") : nil
        rule = section.string(ifGiven: "rule")
        isUnmatched = section.has("unmatched") ? section.bool("unmatched") : nil
        isCanceled = section.has("canceled") ? section.bool("canceled") : nil
        differs = section.has("differs") ? section.bool("differs") : nil
        isUnplayed = section.bool("unplayed")
        counts = Self.counts(section)
    }

    private static func counts(_ section: Section) -> ClosedRange<Int> {
        guard let node = section.node("times") else { return 1...Int.max }
        switch node.content {
        case .scalar("never", _): return 0...0
        case .scalar(let text, _):
            if let count = Int(text), count >= 0 { return count...count }
        case .mapping:
            let bounds = Section(node, Self.boundOptions, into: section.diagnostics)
            let least = bounds.integer(ifGiven: "at_least") ?? 0
            let most = bounds.integer(ifGiven: "at_most") ?? Int.max
            if most < least { bounds.report("at_most is below at_least; swap them", at: "at_most") }
            return least...max(least, most)
        case .null, .sequence: break
        }
        let advice = "write a number, never, or { at_least: 1 }"
        section.report("\"times\" cannot be \(node.summary); \(advice)", at: "times")
        return 0...Int.max
    }

    private static let boundOptions = [
        Option("at_least", .integer(in: 0...1_000_000_000), example: "1", "The least number of calls."),
        Option("at_most", .integer(in: 0...1_000_000_000), example: "3", "The largest number of calls."),
    ]

    // MARK: Against a journal

    /// Which calls it counts, in words.
    public var subject: String {
        if isUnplayed { return "calls of the tape that were not played" }
        var words = methods.isEmpty ? [] : [methods.joined(separator: ", ")]
        words += [call, rule.map { "rule \($0)" }, code, status.map { "status \($0)" }].compactMap { $0 }
        words += protocols.isEmpty ? [] : [protocols.joined(separator: ", ")]
        words += headers.map { "header \($0.name)" } + json.map { "json \($0.name)" }
        if messages != nil { words.append("messages") }
        let flags = [
            ("unmatched", isUnmatched), ("next", goesOn), ("canceled", isCanceled), ("differs", differs),
        ]
        words += flags.compactMap { name, value in value.map { $0 ? name : "not \(name)" } }
        return words.isEmpty ? "all calls" : words.joined(separator: ", ")
    }

    /// What is expected, in words.
    public var countText: String {
        switch (counts.lowerBound, counts.upperBound) {
        case (0, 0): "no call"
        case (let least, Int.max): "at least \(Self.calls(least))"
        case (let least, let most) where least == most: Self.calls(least)
        case (0, let most): "at most \(Self.calls(most))"
        case (let least, let most): "from \(least) to \(Self.calls(most))"
        }
    }

    /// A number of calls in words.
    public static func calls(_ count: Int) -> String { count == 1 ? "1 call" : "\(count) calls" }

    /// Why a journal cannot say whether it holds; none if it can.
    ///
    /// Calls that were removed may have been such calls, and without `diff` no response is compared.
    public func doubt(about page: JSONValue) -> String? {
        if differs != nil, page["diff"] == .bool(false) { return "the mock has no \"diff\"" }
        guard !isUnplayed, let removed = page["removed"]?.integer, removed > 0 else { return nil }
        let isEnough = counts.upperBound == Int.max && count(in: page).map(holds) == true
        return isEnough ? nil : "the journal has removed \(Self.calls(removed))"
    }

    /// How many of a mock's calls, as its journal page has them, are as is expected.
    ///
    /// - Returns: the number; none if it is about the tape of a mock that has none.
    public func count(in page: JSONValue) -> Int? {
        if isUnplayed {
            guard case .array(let unplayed)? = page["unplayed"] else { return nil }
            return unplayed.count
        }
        return Self.calls(in: page).count { fits($0) }
    }

    /// The calls that say most about why it does not hold: those that it counts, or those that it might.
    public func evidence(in page: JSONValue) -> [JSONValue] {
        let all = Self.calls(in: page)
        let counted = all.filter(fits)
        if counted.count > counts.upperBound { return counted }
        let near = all.filter(isOfCall)
        return near.isEmpty ? all : near
    }

    /// The calls of a tape that were not played, by their places; none if the expectation is not about them.
    public func unplayed(in page: JSONValue) -> [String]? {
        guard isUnplayed, case .array(let unplayed)? = page["unplayed"] else { return nil }
        return unplayed.compactMap(\.string)
    }

    /// The calls of a journal's page.
    public static func calls(in page: JSONValue) -> [JSONValue] {
        if case .array(let calls)? = page["calls"] { Array(calls) } else { [] }
    }

    /// Whether so many calls are as many as expected.
    public func holds(for count: Int) -> Bool { counts.contains(count) }

    private func isOfCall(_ entry: JSONValue) -> Bool {
        let name = entry.pointer("/request/call")?.string ?? ""
        let method = name.split(separator: "/").last.map(String.init) ?? ""
        return (methods.isEmpty || methods.contains(method)) && (call.map { Glob.matches(name[...], $0[...]) } ?? true)
    }

    private func fits(_ entry: JSONValue) -> Bool {
        let received = Self.received(entry)
        return isOfCall(entry)
            && headers.allSatisfy { $0.test.holds(for: entry.pointer("/request/headers")?[$0.name]) }
            && json.allSatisfy { $0.holds(for: received.first ?? MessageView(.null)) }
            && Self.fits(received, messages)
            && (protocols.isEmpty || protocols.contains(entry.pointer("/request/protocol")?.string ?? ""))
            && (code == nil || entry["code"]?.string == code)
            && (status == nil || entry["status"]?.integer == status)
            && (goesOn == nil || (entry["next"] != nil) == goesOn)
            && (rule == nil || entry["rule"]?.string == rule)
            && (isUnmatched == nil || (entry["unmatched"] != nil) == isUnmatched)
            && (isCanceled == nil || (entry["canceled"] != nil) == isCanceled)
            && (differs == nil || Self.differs(entry) == differs)
    }

    private static func differs(_ entry: JSONValue) -> Bool? {
        guard case .array(let differences)? = entry["differences"] else { return nil }
        return !differences.isEmpty
    }

    private static func fits(_ received: [MessageView], _ messages: [[JSONCondition]]?) -> Bool {
        guard let messages else { return true }
        return received.count == messages.count
            && zip(received, messages).allSatisfy { message, tests in tests.allSatisfy { $0.holds(for: message) } }
    }

    private static func received(_ entry: JSONValue) -> [MessageView] {
        guard case .array(let messages)? = entry["received"] else { return [] }
        return messages.map { MessageView($0["json"] ?? .null, isProtoJSON: true) }
    }
}
