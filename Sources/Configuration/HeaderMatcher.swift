/// What a condition asks of one request header.
public struct HeaderMatcher: Equatable, Sendable {
    /// What the header must be.
    public enum Test: Equatable, Sendable {
        /// The header is there, with any value.
        case present
        /// The header is not there.
        case absent
        /// The header has one of the values.
        case exact([String])
        /// The header has a value that the regular expression matches; it is not compiled yet.
        case regex(MarkedString)
    }

    /// The header's name in small letters.
    public let name: String
    /// What it must be.
    public let test: Test
    /// Where the header is named.
    @NotCompared public private(set) var mark: Mark

    /// Reads one entry below `header`; none if it is wrong, which is reported.
    public init?(_ entry: Node.Entry, into diagnostics: Diagnostics) {
        name = entry.key.lowercased()
        mark = entry.keyMark
        if !Self.isFieldName(entry.key) {
            diagnostics.report(
                "\(Diagnostic.quote(entry.key)) is not a valid header name; write for example x-env",
                at: entry.keyMark
            )
        }
        guard let test = Self.test(entry.value, into: diagnostics) else { return nil }
        self.test = test
    }

    /// What is taken below a header's name.
    public static let shape = Option.Shape.either([.value(.strings), .value(.section(options))])

    private static let options = [
        Option("exact", .strings, oneOf: "test", "The value, or a list of values."),
        Option("regex", .string, oneOf: "test", "A regular expression that some part of the value must match."),
    ]

    private static func test(_ node: Node, into diagnostics: Diagnostics) -> Test? {
        switch node.content {
        case .scalar("present", _): return .present
        case .scalar("absent", _): return .absent
        case .scalar(let text, _): return .exact([text])
        case .sequence(let items):
            let texts = items.compactMap(\.text)
            if !texts.isEmpty, texts.count == items.count { return .exact(texts) }
        case .mapping:
            let section = Section(node, options, into: diagnostics)
            if section.has("exact") { return .exact(section.strings("exact")) }
            return section.string(ifGiven: "regex").map { .regex(MarkedString($0, at: section.mark(of: "regex"))) }
        case .null: break
        }
        let advice = "write a value, present, absent, a list of values, or { regex: \"…\" }"
        diagnostics.report("a header condition cannot be \(node.summary); \(advice)", at: node.mark)
        return nil
    }

    /// Whether `text` is a `token` (RFC 9110 §5.6.2), in letters of any case.
    private static func isFieldName(_ text: String) -> Bool {
        let marks = Array("!#$%&'*+-.^_`|~".utf8)
        return !text.isEmpty
            && text.utf8.allSatisfy { byte in
                0x30...0x39 ~= byte || 0x61...0x7a ~= byte | 0x20 && byte < 0x80 || marks.contains(byte)
            }
    }
}
