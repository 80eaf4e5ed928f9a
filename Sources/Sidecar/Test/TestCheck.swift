internal import Bytes
internal import Configuration
internal import Documents
internal import Interceptors
internal import Protocols
internal import Proxy
internal import Time

/// What is not as a test expects.
struct TestFailure: Equatable {
    /// What was looked at: `request.headers.authorization`.
    let place: String
    let expected: String
    let seen: String
}

/// What is expected of one call.
struct TestCheck {
    private typealias Check = (RehearsedCall, [String: Double], TestNames) -> TestFailure?

    private var checks: [Check] = []

    /// Reads the options and reports what is wrong with them.
    init(_ section: Section) {
        addDecision(section)
        addTimes(section)
        if section.has("request") { addRequest(section.section("request")) }
        if section.has("response") { addResponse(section.section("response")) }
        addLog(section)
        addMetrics(section)
    }

    /// What of a call is not as expected.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - metrics: by how much metrics have changed.
    ///   - names: the names of routes.
    /// - Returns: all that is not.
    func failures(_ call: RehearsedCall, _ metrics: [String: Double], _ names: TestNames) -> [TestFailure] {
        checks.compactMap { $0(call, metrics, names) }
    }

    private mutating func add(_ check: @escaping Check) { checks.append(check) }

    /// Compares a text that the call has with one that is expected.
    private mutating func add(_ place: String, _ expected: String?, _ seen: @escaping (RehearsedCall) -> String) {
        guard let expected else { return }
        add { call, _, _ in
            let seen = seen(call)
            return seen == expected ? nil : TestFailure(place: place, expected: expected, seen: seen)
        }
    }

    /// Tests a value that the call has.
    private mutating func add(
        _ place: String,
        _ node: Node?,
        ofText: Bool,
        ofTarget: Bool = false,
        into diagnostics: Diagnostics,
        shown: @escaping (String, RehearsedCall) -> String = { text, _ in text },
        _ seen: @escaping (RehearsedCall) -> JSONValue?
    ) {
        guard let node else { return }
        let written = JSONTest(node, ofText: ofText, into: diagnostics)
        let test = ofTarget ? written.ofTarget : written
        let expected = ofText ? node.line : node.jsonLine
        add { call, _, _ in
            let seen = seen(call)
            guard !test.holds(for: seen) else { return nil }
            let text = seen.map { (ofText ? $0.string : nil) ?? String(decoding: $0.bytes, as: UTF8.self) }
            return TestFailure(place: place, expected: expected, seen: text.map { shown($0, call) } ?? "absent")
        }
    }

    // MARK: Parts

    private mutating func addDecision(_ section: Section) {
        if let node = section.node("route") {
            guard case .scalar(let route, _) = node.content else {
                return section.report("\"route\" cannot be \(node.summary); write a name or a number", at: "route")
            }
            add { call, _, names in
                let seen = names.route(of: call)
                return seen.contains(route)
                    ? nil : TestFailure(place: "route", expected: route, seen: seen.first ?? "no route")
            }
        }
        if let chain = section.string(ifGiven: "chain") {
            add { call, _, names in
                let seen = names.chain(of: call) ?? "none"
                return seen == chain ? nil : TestFailure(place: "chain", expected: chain, seen: seen)
            }
        }
        add("upstream", section.string(ifGiven: "upstream")) { $0.upstream ?? "none" }
        add("decided_by", section.string(ifGiven: "decided_by")) { $0.record["decided_by"]?.string ?? "nobody" }
        add("code", section.string(ifGiven: "code")) { $0.record["code"]?.string ?? "none" }
        add("message", section.node("message"), ofText: true, into: section.diagnostics) {
            $0.record["message"] ?? .string("")
        }
        for detail in section.sections("details") { addDetail(detail) }
        for subject in section.strings("redacted") {
            add { call, _, _ in
                call.isRedacted(subject)
                    ? nil : TestFailure(place: "redacted", expected: "\(subject) is never shown", seen: "it is shown")
            }
        }
        add("status", section.integer(ifGiven: "status").map { "\($0)" }) { "\($0.status)" }
    }

    private mutating func addDetail(_ section: Section) {
        let type = section.string("type")
        let places = TestPlace.all(section.node("json"), into: section.diagnostics)
        add { call, _, _ in
            let failures = call.details.filter { $0.type == type }.map { detail in
                places.lazy.compactMap { $0.failure(detail.view, in: "details \(type)", of: call) }.first
            }
            guard !failures.contains(where: { $0 == nil }) else { return nil }
            let types = call.details.map(\.type).joined(separator: ", ")
            let absent = TestFailure(place: "details", expected: type, seen: types.isEmpty ? "none" : types)
            return failures.first ?? absent
        }
    }

    private mutating func addTimes(_ section: Section) {
        add("attempts", section.integer(ifGiven: "attempts").map { "\($0)" }) { "\($0.attemptCount)" }
        if section.has("waits") {
            let waits = section.markedStrings("waits").map { TestTime.duration($0, into: section.diagnostics) }
            add { call, _, _ in
                let seen = zip(call.attempts, call.attempts.dropFirst()).map { $1.time - $0.time }
                let isGood = seen.count == waits.count && zip(seen, waits).allSatisfy { TestTime.isNear($0, $1) }
                guard !isGood else { return nil }
                return TestFailure(
                    place: "waits",
                    expected: "\(waits.map(TestTime.text))",
                    seen: "\(seen.map(TestTime.text))"
                )
            }
        }
        guard let node = section.node("time") else { return }
        let time = TestTime(node, into: section.diagnostics)
        add { call, _, _ in
            time.holds(for: call.time)
                ? nil : TestFailure(place: "time", expected: node.line, seen: TestTime.text(call.time))
        }
    }

    private mutating func addRequest(_ section: Section) {
        add("request.method", section.string(ifGiven: "method")) { $0.attempts.last?.method ?? "none" }
        let shown: (String, RehearsedCall) -> String = { text, _ in MaskedText.masked(text, .url) }
        let node = section.node("path")
        add("request.path", node, ofText: true, ofTarget: true, into: section.diagnostics, shown: shown) {
            $0.attempts.last.map { .target(Array($0.target.utf8).span) }
        }
        addFields("request.headers", section.node("headers"), section.diagnostics) { $0.attempts.last?.headers ?? [] }
        addMessages("request", section, .request) { $0.attempts.last?.messages ?? [] }
    }

    private mutating func addResponse(_ section: Section) {
        addFields("response.headers", section.node("headers"), section.diagnostics) { $0.headers }
        addFields("response.trailers", section.node("trailers"), section.diagnostics) { $0.trailers }
        let shown: (String, RehearsedCall) -> String = { text, call in call.masked(Array(text.utf8)) }
        add("response.body", section.node("body"), ofText: true, into: section.diagnostics, shown: shown) {
            .string(String(decoding: $0.messages.first ?? [], as: UTF8.self))
        }
        addMessages("response", section, .response) { $0.messages }
    }

    private mutating func addFields(
        _ place: String,
        _ node: Node?,
        _ diagnostics: Diagnostics,
        _ fields: @escaping (RehearsedCall) -> [(name: String, value: String)]
    ) {
        for entry in node?.conditions(into: diagnostics) ?? [] {
            let name = entry.key.lowercased()
            let test = JSONTest(entry.value, ofText: true, into: diagnostics)
            let expected = entry.value.line
            add { call, _, _ in
                let values = fields(call).filter { $0.name == name }.map(\.value)
                let seen: JSONValue? = values.isEmpty ? nil : .string(values.joined(separator: ", "))
                guard !test.holds(for: seen) else { return nil }
                let shown = values.map { call.shown($0, of: name) }.joined(separator: ", ")
                return TestFailure(
                    place: "\(place).\(name)",
                    expected: expected,
                    seen: values.isEmpty ? "absent" : shown
                )
            }
        }
    }

    private mutating func addMessages(
        _ place: String,
        _ section: Section,
        _ direction: Direction,
        _ messages: @escaping (RehearsedCall) -> [[UInt8]]
    ) {
        addPointers("\(place).json", section.node("json"), direction, section.diagnostics) { messages($0).first }
        guard let node = section.node("messages") else { return }
        guard case .sequence(let items) = node.content else {
            return section.report("\"messages\" cannot be \(node.summary); write a list", at: "messages")
        }
        for (index, item) in items.enumerated() {
            addPointers("\(place).messages[\(index)]", item, direction, section.diagnostics) { call in
                let all = messages(call)
                return index < all.count ? all[index] : nil
            }
        }
        add("\(place).messages", "\(items.count) messages") { "\(messages($0).count) messages" }
    }

    private mutating func addPointers(
        _ place: String,
        _ node: Node?,
        _ direction: Direction,
        _ diagnostics: Diagnostics,
        _ message: @escaping (RehearsedCall) -> [UInt8]?
    ) {
        for expected in TestPlace.all(node, into: diagnostics) {
            add { call, _, _ in
                let json = message(call).flatMap { try? JSON.parse($0) }
                return expected.failure(json.map { call.view(of: $0, direction) }, in: place, of: call)
            }
        }
    }

    private mutating func addLog(_ section: Section) {
        for entry in section.node("log")?.conditions(into: section.diagnostics) ?? [] {
            let pointer = JSONPointer(entry.key.hasPrefix("/") ? entry.key : "/\(entry.key)")
            add("log.\(entry.key)", entry.value, ofText: false, into: section.diagnostics) { call in
                pointer.flatMap { call.record.value(at: $0) }
            }
        }
    }

    private mutating func addMetrics(_ section: Section) {
        for entry in section.node("metrics")?.conditions(into: section.diagnostics) ?? [] {
            guard case .scalar(let text, _) = entry.value.content, let expected = Double(text) else {
                let problem = "the change of a metric cannot be \(entry.value.summary)"
                section.diagnostics.report("\(problem); write a number", at: entry.value.mark)
                continue
            }
            let name = String(entry.key.prefix { $0 != "{" })
            add { _, metrics, _ in
                guard metrics[name] != nil || metrics[entry.key] != nil else {
                    return TestFailure(place: "metrics.\(entry.key)", expected: text, seen: "no metric of this name")
                }
                let seen = metrics[entry.key] ?? 0
                return seen == expected
                    ? nil : TestFailure(place: "metrics.\(entry.key)", expected: text, seen: "\(seen)")
            }
        }
    }
}
