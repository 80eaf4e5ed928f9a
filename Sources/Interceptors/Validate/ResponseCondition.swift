internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC

/// What must hold of a response, or of the failure to get one, for a rule to be for it: everything that is given.
struct ResponseCondition: Sendable {
    static let options = [
        Option(
            "status",
            .integers(in: 100...999),
            example: "429",
            "The HTTP status of the response, or a list of statuses."
        ),
        Option(
            "code",
            .choices(ConditionSettings.codeNames),
            "The status code of the call, or a list of codes. In gRPC it is known only at the end."
        ),
        Option(
            "header",
            .node,
            shape: .named(HeaderMatcher.shape),
            "Conditions on response headers: a value, `present`, `absent`, a list of values, or `{ regex: … }`."
        ),
        Option(
            "trailer",
            .node,
            shape: .named(HeaderMatcher.shape),
            """
            Conditions on trailers, written like those in `header`. In unary Connect calls these are the \
            `trailer-` headers, without the prefix.
            """
        ),
        Option(
            "json",
            .node,
            shape: .named(.anything),
            "Conditions on values at JSON Pointers in the message: a value, `{ not: … }`, `present` or `absent`."
        ),
        Option(
            "error",
            .choices(ErrorKind.allCases.map(\.rawValue)),
            """
            The error that prevented a complete response, or a list of errors. Without it and without `code`, \
            the rule ignores such errors.
            """
        ),
    ]

    private var statuses: [Int] = []
    private var codes: [RPCCode] = []
    private var headers: [HeaderCondition] = []
    private var trailers: [HeaderCondition] = []
    private var jsonConditions: [JSONCondition] = []
    private var errors: [ErrorKind] = []
    private var mustBeEmpty = false

    /// A response with a status.
    init(status: Int) { statuses = [status] }

    /// An error that took the place of the response.
    init(errors: [ErrorKind]) { self.errors = errors }

    private init() {}

    /// A response with nothing in it.
    static var empty: ResponseCondition {
        var condition = ResponseCondition()
        condition.mustBeEmpty = true
        return condition
    }

    /// Reads a condition and reports what is wrong with it; without any option it is for every response.
    init(_ section: Section) {
        statuses = section.integers("status")
        codes = section.strings("code").compactMap { RPCCode(name: $0) }
        errors = section.strings("error").compactMap { ErrorKind(rawValue: $0) }
        headers = Self.fields("header", section)
        trailers = Self.fields("trailer", section)
        jsonConditions = Self.jsonConditions(section)
        for key in ["status", "code", "error"] { section.reportIfEmpty(key, write: "what to match") }
        let asksResponse = !statuses.isEmpty || !headers.isEmpty || !trailers.isEmpty || !jsonConditions.isEmpty
        if !errors.isEmpty, asksResponse {
            section.report(
                """
                \"error\" matches calls without a complete response, so the other conditions cannot hold; write a \
                separate rule for it
                """,
                at: "error"
            )
        }
    }

    private static func fields(_ key: String, _ section: Section) -> [HeaderCondition] {
        guard let node = section.node(key) else { return [] }
        guard let entries = node.entries, !entries.isEmpty else {
            section.report("\"\(key)\" cannot be \(node.summary); write a mapping of names to values", at: key)
            return []
        }
        return entries.compactMap { entry in
            HeaderMatcher(entry, into: section.diagnostics).flatMap {
                HeaderCondition($0, into: section.diagnostics)
            }
        }
    }

    private static func jsonConditions(_ section: Section) -> [JSONCondition] {
        guard let node = section.node("json") else { return [] }
        guard case .mapping(let entries) = node.content, !entries.isEmpty else {
            let advice = "write a mapping of JSON Pointers to values, such as { /code: { not: 0 } }"
            section.report("\"json\" cannot be \(node.shape); \(advice)", at: "json")
            return []
        }
        return entries.compactMap { JSONCondition($0, .response, into: section.diagnostics) }
    }

    /// The places of messages that it reads.
    var places: [MessagePlace] { jsonConditions.map(\.place) }

    /// Whether it asks about the message.
    var asksMessage: Bool { !jsonConditions.isEmpty || mustBeEmpty }

    /// Whether it asks about what may be known at the end only.
    var asksEnd: Bool { asksMessage || !codes.isEmpty || !trailers.isEmpty }

    /// Whether it may be for calls that got no whole response.
    var asksError: Bool { !errors.isEmpty || !codes.isEmpty }

    /// Whether what it asks about the head, or about the failure, holds.
    func holds(for head: HTTPHead?, error: UpstreamError?) -> Bool {
        let asksResponse = !statuses.isEmpty || !headers.isEmpty || !trailers.isEmpty || asksMessage
        if let error { return asksError && !asksResponse && (errors.isEmpty || errors.contains(error.kind)) }
        guard errors.isEmpty else { return false }
        guard let head else { return statuses.isEmpty && headers.isEmpty }
        return (statuses.isEmpty || statuses.contains(head.status)) && headers.allSatisfy { $0.holds(for: head) }
    }

    /// Whether the parts of the condition beyond the head hold, or `nil` while that is not known.
    ///
    /// A single part that does not hold decides, even if others are not known.
    func holds(for facts: ResponseFacts) -> Bool? {
        let (code, trailers) = (codeHolds(facts), trailersHold(facts))
        guard code != false, trailers != false else { return false }
        let (message, emptiness) = (messageHolds(facts), emptinessHolds(facts))
        guard message != false, emptiness != false else { return false }
        return code == nil || trailers == nil || message == nil || emptiness == nil ? nil : true
    }

    private func codeHolds(_ facts: ResponseFacts) -> Bool? {
        codes.isEmpty ? true : facts.code.map { codes.contains($0) }
    }

    private func messageHolds(_ facts: ResponseFacts) -> Bool? {
        guard !jsonConditions.isEmpty else { return true }
        guard facts.isMessageKnown else { return nil }
        return facts.view.map { view in jsonConditions.allSatisfy { $0.holds(for: view) } } ?? false
    }

    private func emptinessHolds(_ facts: ResponseFacts) -> Bool? { mustBeEmpty ? facts.isEmpty : true }

    private func trailersHold(_ facts: ResponseFacts) -> Bool? {
        trailers.isEmpty ? true : facts.trailers.map { found in trailers.allSatisfy { $0.holds(for: found) } }
    }
}
