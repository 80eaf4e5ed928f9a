internal import Bytes
internal import Configuration
internal import Documents
internal import Patterns
internal import Protocols
internal import Proxy

/// What must hold of messages.
struct MessageRequirements: Sendable {
    static let options = [
        Option("max", .size(in: 0...Int.max), example: "64KiB", "The maximum size."),
        Option("min", .size(in: 0...Int.max), example: "1B", "The minimum size."),
        Option(
            "pattern",
            .string,
            example: "^[ -~]*$",
            """
            A regular expression that some part of the message must match. A message of more than 64 KiB never \
            matches.
            """
        ),
        Option(
            "json",
            .node,
            shape: .named(.anything),
            "The values at JSON Pointers: a value, `present` or `absent`."
        ),
    ]

    private struct Requirement: Sendable {
        enum Test: Sendable { case present, absent, value(JSONValue) }
        let name: String
        let mark: Mark
        let pointer: JSONPointer
        let test: Test
    }

    private let maxSize: Int?
    private let minSize: Int?
    private let pattern: Pattern?
    private let requirements: [Requirement]?

    /// Reads what must hold and reports what is wrong.
    init(_ section: Section) {
        maxSize = section.integer(ifGiven: "max")
        minSize = section.integer(ifGiven: "min")
        pattern = Self.pattern(section)
        requirements = section.node("json").map { Self.requirements($0, section) }
        if maxSize == nil, minSize == nil, !section.has("pattern"), requirements == nil {
            let advice = "add \"max\", \"min\", \"pattern\" or \"json\""
            section.diagnostics.report("there is no condition here; \(advice)", at: section.mark)
        }
    }

    /// The size of the largest message that is read as JSON.
    var maxJSON: Int { requirements == nil ? 0 : maxSize ?? .max }

    /// The places that it reads.
    func places(_ direction: Direction) -> [MessagePlace] {
        (requirements ?? []).map { MessagePlace($0.pointer, text: $0.name, at: $0.mark, direction, .message) }
    }

    private static func pattern(_ section: Section) -> Pattern? {
        do throws(PatternError) {
            guard let text = section.string(ifGiven: "pattern") else { return nil }
            return try Pattern(text)
        } catch {
            section.report("\(error)", at: "pattern")
            return nil
        }
    }

    private static func requirements(_ node: Node, _ section: Section) -> [Requirement] {
        guard case .mapping(let entries) = node.content, !entries.isEmpty else {
            let advice = "write a mapping of JSON Pointers to values, such as { /name: present }"
            section.report("\"json\" cannot be \(node.shape); \(advice)", at: "json")
            return []
        }
        return entries.compactMap { entry in
            guard let pointer = JSONPointer(entry.key) else {
                let problem = "\(Diagnostic.quote(entry.key)) is not a JSON Pointer"
                section.diagnostics.report("\(problem); write for example /name", at: entry.keyMark)
                return nil
            }
            return Requirement(name: entry.key, mark: entry.keyMark, pointer: pointer, test: test(entry.value))
        }
    }

    private static func test(_ node: Node) -> Requirement.Test {
        switch node.content {
        case .scalar("present", quoted: false): .present
        case .scalar("absent", quoted: false): .absent
        // What a node writes is JSON, so there is a value.
        default: .value((try? JSON.parse(node.json)) ?? .null)
        }
    }

    /// What is wrong with a message: the end of a sentence about it, in which nothing of the message is quoted.
    ///
    /// - Parameters:
    ///   - payload: the message.
    ///   - view: reads it as JSON.
    ///   - unreadable: what is wrong with it if that cannot be.
    /// - Returns: none for a message that is as required.
    func error(
        of payload: Span<UInt8>,
        _ view: (Span<UInt8>) -> MessageView? = { (try? JSON.parse($0)).map { MessageView($0) } },
        unreadable: @autoclosure () -> String = "is not valid JSON"
    ) -> String? {
        if let maxSize, payload.count > maxSize {
            return "is too large: \(payload.count) B, the maximum is \(maxSize) B"
        }
        if let minSize, payload.count < minSize {
            return "is too small: \(payload.count) B, the minimum is \(minSize) B"
        }
        if let pattern, !pattern.matches(payload) { return "does not match the required pattern" }
        guard let requirements else { return nil }
        guard let message = view(payload) else { return unreadable() }
        let wrong = requirements.first { !Self.holds($0.test, message.part(at: $0.pointer), isTyped: message.isTyped) }
        return wrong.map { "does not have the required value at \($0.name)" }
    }

    private static func holds(_ test: Requirement.Test, _ found: MessagePart?, isTyped: Bool) -> Bool {
        switch test {
        case .present: found?.isUnset == false
        case .absent: found?.isUnset ?? true
        case .value(let expected): found?.json == expected || isTyped && found?.isWorth(expected) == true
        }
    }
}
