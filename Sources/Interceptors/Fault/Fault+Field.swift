internal import Configuration
internal import Proxy

/// The field by which a caller asks for a fault: `delay=100ms; on=response; code=unavailable; percentage=50`.
///
/// The names are those of the options; `reset` may stand alone.
extension Fault {
    /// The name of the field.
    static let field = "x-martlet-fault"

    /// What is wrong with a field.
    struct Malformed: Error, Equatable {
        let text: String
    }

    /// Reads the value of the field, as if it stood in a file.
    static func read(_ text: String) throws(Malformed) -> Fault {
        let mark = Mark.start
        var entries: [String: Node] = [:]
        for part in text.split(separator: ";") {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
            let value = Node.plain(halves.count > 1 ? halves[1] : halves[0] == "reset" ? "true" : "", at: mark)
            guard entries.updateValue(value, forKey: halves[0]) == nil else {
                throw Malformed(text: "\(Diagnostic.quote(halves[0])) occurs twice")
            }
        }
        if let side = entries.removeValue(forKey: "on") {
            let delay = ["time": entries["delay"] ?? .plain("0s", at: mark), "on": side]
            entries["delay"] = node(delay)
        }
        let diagnostics = Diagnostics()
        let fault = Fault(Section(node(entries), options, into: diagnostics))
        if let first = diagnostics.sorted.first { throw Malformed(text: first.message) }
        return fault
    }

    private static func node(_ entries: [String: Node]) -> Node {
        let sorted = entries.sorted { $0.key < $1.key }
        return Node(.mapping(sorted.map { Node.Entry(key: $0.key, keyMark: .start, value: $0.value) }), at: .start)
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { String(start[...$0]) } ?? ""
    }
}
