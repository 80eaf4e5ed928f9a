internal import Bytes
internal import Configuration
internal import Documents
internal import Interceptors
internal import Proxy

/// What a test expects in one place of a message.
struct TestPlace {
    /// The place as the file has it.
    let name: String
    /// What must be there, for people.
    let expected: String
    private let pointer: JSONPointer
    private let test: JSONTest

    /// Reads the places that a mapping names; what is wrong with one is reported.
    static func all(_ node: Node?, into diagnostics: Diagnostics) -> [TestPlace] {
        (node?.conditions(into: diagnostics) ?? []).compactMap { entry in
            guard let pointer = JSONPointer(entry.key) else {
                let problem = "\(Diagnostic.quote(entry.key)) is not a JSON Pointer"
                diagnostics.report("\(problem); write for example /id", at: entry.keyMark)
                return nil
            }
            return TestPlace(
                name: entry.key,
                expected: entry.value.jsonLine,
                pointer: pointer,
                test: JSONTest(entry.value, into: diagnostics)
            )
        }
    }

    /// What is not as expected; none if it is.
    ///
    /// - Parameters:
    ///   - message: the message as conditions see it; none if there is none.
    ///   - place: what the message is, for people.
    ///   - call: the call, which says what may be shown.
    /// - Returns: the failure.
    func failure(_ message: MessageView?, in place: String, of call: RehearsedCall) -> TestFailure? {
        let found = message?.part(at: pointer)
        guard !test.holds(forPart: found) else { return nil }
        let shown = message.map { $0.with(call.masked($0.root)) }?.part(at: pointer) ?? found
        let seen = shown.flatMap { $0.isUnset ? nil : String(decoding: $0.json.bytes, as: UTF8.self) } ?? "absent"
        return TestFailure(place: "\(place) \(name)", expected: expected, seen: seen)
    }
}

extension Node {
    /// The members of a mapping of names to conditions; anything else is reported.
    func conditions(into diagnostics: Diagnostics) -> [Entry] {
        if let entries { return entries }
        diagnostics.report("conditions cannot be \(summary); write a mapping of names to conditions", at: mark)
        return []
    }

    /// The value as a line, for people.
    var line: String {
        // In quotes it is the word, and not what it means.
        if case .scalar(let text, quoted: true) = content, ["present", "absent"].contains(text) {
            return "\"\(text)\""
        }
        if case .scalar(let text, _) = content { return text }
        return String(decoding: json, as: UTF8.self)
    }

    /// The value as a line of JSON, for people: text is in quotes, as it is in what was seen.
    var jsonLine: String {
        if case .scalar(let text, quoted: false) = content, ["present", "absent"].contains(text) { return text }
        return String(decoding: json, as: UTF8.self)
    }
}
