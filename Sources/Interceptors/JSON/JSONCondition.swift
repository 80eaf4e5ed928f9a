internal import Bytes
internal import Configuration
internal import Documents
internal import Protocols
internal import Proxy

/// What must be in one place of a message in JSON.
struct JSONCondition: Sendable {
    private let pointer: JSONPointer
    private let test: JSONTest
    /// The place that it reads.
    let place: MessagePlace

    /// Reads an entry of a mapping of places to tests; none if it is wrong, which is reported.
    init?(_ entry: Node.Entry, _ direction: Direction, into diagnostics: Diagnostics) {
        guard let pointer = JSONPointer(entry.key) else {
            let problem = "\(Diagnostic.quote(entry.key)) is not a JSON Pointer"
            diagnostics.report("\(problem); write for example /\(entry.key)", at: entry.keyMark)
            return nil
        }
        self.pointer = pointer
        test = JSONTest(entry.value, into: diagnostics)
        place = MessagePlace(pointer, text: entry.key, at: entry.keyMark, direction, .body)
    }

    /// The conditions of the option `json` of a section, on messages of the request; what is wrong is reported.
    static func all(_ section: Section) -> [JSONCondition] {
        guard let node = section.node("json") else { return [] }
        guard case .mapping(let entries) = node.content, !entries.isEmpty else {
            let advice = "write a mapping of JSON Pointers to values, such as { /name: present }"
            section.report("\"json\" cannot be \(node.shape); \(advice)", at: "json")
            return []
        }
        return entries.compactMap { JSONCondition($0, .request, into: section.diagnostics) }
    }

    /// The conditions of each message of a list, if the section has one; what is wrong is reported.
    static func lists(_ key: String, of section: Section) -> [[JSONCondition]]? {
        guard let node = section.node(key) else { return nil }
        guard case .sequence(let items) = node.content else {
            section.report("\"\(key)\" cannot be \(node.summary); write a list of conditions", at: key)
            return nil
        }
        return items.map { item in
            if item.entries == nil {
                let advice = "write a mapping of JSON Pointers to values, such as { /name: present }"
                section.diagnostics.report(
                    "the conditions of a message cannot be \(item.summary); \(advice)",
                    at: item.mark
                )
            }
            return (item.entries ?? []).compactMap { JSONCondition($0, .request, into: section.diagnostics) }
        }
    }

    /// The place and the key of the value that must be there, if it must be one that has a key.
    var equality: (pointer: JSONPointer, key: [UInt8])? {
        if case .value(let value) = test, let key = value.key { (pointer, key) } else { nil }
    }

    /// The place as the file has it.
    var name: String { place.text }

    /// What a message is asked for that does not have it, for people.
    var lack: String { name.isEmpty ? "another message" : "another value at \(name)" }

    /// Whether the message has in the place what it must have there.
    func holds(for message: MessageView) -> Bool { test.holds(forPart: message.part(at: pointer)) }
}
