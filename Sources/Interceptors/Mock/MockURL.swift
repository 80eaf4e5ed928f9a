internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Proxy

/// What a rule of a mock asks of the URL of a call: its path with the query, parts of the path, and parameters.
struct MockURL: Sendable {
    private enum Segment: Sendable {
        case literal([UInt8])
        case named(String)
    }

    private let url: JSONTest?
    private let segments: [Segment]?
    private let query: [(name: String, test: JSONTest)]

    /// Reads the options of a condition; none if it asks nothing of the URL.
    init?(_ when: Section) {
        guard ["url", "template", "query"].contains(where: { when.has($0) }) else { return nil }
        url = when.node("url").map { JSONTest($0, ofText: true, into: when.diagnostics).ofTarget }
        segments = when.has("template") ? Self.segments(when) : nil
        query = (when.node("query")?.entries ?? []).map {
            ($0.key, JSONTest($0.value, ofText: true, into: when.diagnostics))
        }
        if let node = when.node("query"), node.entries == nil {
            when.report("\"query\" cannot be \(node.summary); write a mapping of names to values", at: "query")
        }
    }

    private static func segments(_ when: Section) -> [Segment] {
        let text = when.string("template")
        guard text.hasPrefix("/") else {
            let problem = "\"template\" cannot be \(Diagnostic.quote(text))"
            when.report("\(problem); write a path such as /v1/orders/{id}", at: "template")
            return []
        }
        if let problem = MockTemplateForm.problem(of: text) {
            when.report(problem, at: "template")
            return []
        }
        let names = text.dropFirst().split(separator: "/").filter { $0.contains("{") || $0.contains("}") }
        for part in names where !(part.hasPrefix("{") && part.hasSuffix("}") && part.count > 2) {
            let problem = "\"template\" has \(Diagnostic.quote(String(part)))"
            when.report("\(problem); write a name such as {id} for a whole segment", at: "template")
        }
        let normal = String(decoding: URLPath.normal(Array(text.utf8).span), as: UTF8.self)
        return normal.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasPrefix("{") && part.hasSuffix("}") && part.count > 2
                ? .named(String(part.dropFirst().dropLast())) : .literal(Array(part.utf8))
        }
    }

    /// The names of the parts of a path.
    var names: [String] {
        (segments ?? []).compactMap { if case .named(let name) = $0 { name } else { nil } }
    }

    /// What of a call is not as is asked; none if all is.
    func lack(of call: Call, _ parameters: MockQuery) -> MockRule.Lack? {
        let request = call.request
        if let url, !url.holds(for: .target(request.target)) { return .init(depth: 1, asksFor: "another URL") }
        if segments != nil, captures(of: call) == nil {
            return .init(depth: 1, asksFor: "another path")
        }
        let wrong = query.first { name, test in
            let values = parameters.values(of: name)
            return values.isEmpty ? !test.holds(for: nil) : !values.contains { test.holds(for: $0) }
        }
        return wrong.map { .init(depth: 4, asksFor: "another parameter \($0.name)") }
    }

    /// The named parts of a call's path; none if the path is another.
    func captures(of call: Call) -> [String: [UInt8]]? {
        guard let segments else { return [:] }
        let request = call.request
        // No more parts than decide: each rule looks at the path.
        let parts = request.path.array.dropFirst()
            .split(separator: UInt8(ascii: "/"), maxSplits: segments.count, omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        for case (.literal(let literal), let part) in zip(segments, parts) {
            // An escape has three bytes.
            guard part.count <= 3 * literal.count, literal == URLPath.normal(part: part.span) else { return nil }
        }
        var captures: [String: [UInt8]] = [:]
        for case (.named(let name), let part) in zip(segments, parts) {
            guard !part.isEmpty else { return nil }
            captures[name] = Self.unescaped(part, isQuery: false)
        }
        return captures
    }

    /// The bytes without percent signs; an escape that is not valid stays.
    static func unescaped(_ bytes: ArraySlice<UInt8>, isQuery: Bool) -> [UInt8] {
        let text = bytes.span
        var (plain, index) = ([UInt8](), 0)
        while index < text.count {
            let escaped = text.escapedByte(at: index)
            plain.append(escaped ?? (isQuery && text[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : text[index]))
            index += escaped == nil ? 1 : 3
        }
        return plain
    }
}
