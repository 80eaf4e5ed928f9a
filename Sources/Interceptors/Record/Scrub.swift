internal import Bytes
internal import Configuration
internal import Documents
internal import Patterns

/// Replaces parts of texts before they are written.
struct Scrub: Sendable {
    static let options = [
        Option("pattern", .string, required: true, example: "\\d{16}", "A regular expression."),
        Option("with", .string, default: "***", "What to write instead. `$1` is the first group."),
    ]

    private let rules: [(pattern: Pattern, replacement: Replacement)]

    /// Reads the rules that an option has and reports what is wrong with them.
    init(_ key: String, of section: Section) {
        rules = section.sections(key).compactMap { rule in
            do throws(PatternError) {
                let pattern = try Pattern(rule.string("pattern"))
                do throws(PatternError) {
                    return (pattern, try Replacement(rule.string("with"), for: pattern))
                } catch {
                    rule.report("\(error)", at: "with")
                }
            } catch {
                rule.report("\(error)", at: "pattern")
            }
            return nil
        }
    }

    var isEmpty: Bool { rules.isEmpty }

    /// A text without what is to be replaced; none for one that is too long to be looked into.
    func text(_ text: String) -> String? {
        guard !isEmpty else { return text }
        var bytes = Array(text.utf8)
        for (pattern, replacement) in rules {
            guard bytes.count <= Pattern.maxSubject else { return nil }
            let queue = ByteQueue()
            if pattern.replaceAll(in: bytes.span, with: replacement, into: queue) { bytes = queue.readable.array }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A value without what is to be replaced in its strings and names; none if something cannot be looked into.
    func value(_ value: JSONValue) -> JSONValue? {
        isEmpty ? value : value.mapped(name: text, scalar: scalar)
    }

    private func scalar(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .null, .bool, .array, .object: return value
        case .integer, .number:
            let plain = String(decoding: value.bytes, as: UTF8.self)
            return text(plain).map { $0 == plain ? value : .string($0) }
        case .string(let string): return text(string).map { .string($0) }
        }
    }

    /// Whether bytes that are no text may have something in them that is to be replaced.
    func finds(in bytes: Span<UInt8>) -> Bool {
        !isEmpty && (bytes.count > Pattern.maxSubject || rules.contains { $0.pattern.matches(bytes) })
    }
}
