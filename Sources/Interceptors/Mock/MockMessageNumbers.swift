internal import Configuration

/// The numbers of the messages that the texts of a mock name, as in `{json:2:/id}`.
enum MockMessageNumbers {
    /// The numbers that a text can name.
    static let range = 1...1000

    /// Returns the numbers in all texts of a mock, so that each call keeps these messages alone.
    static func all(in node: Node) -> Set<Int> {
        switch node.content {
        case .scalar(let text, _): numbers(in: text)
        case .sequence(let items): items.reduce(into: []) { $0.formUnion(all(in: $1)) }
        case .mapping(let entries): entries.reduce(into: []) { $0.formUnion(all(in: $1.value)) }
        case .null: []
        }
    }

    private static func numbers(in text: String) -> Set<Int> {
        guard text.contains("{json:") else { return [] }
        return Set(text.split(separator: "{").compactMap { split($0.prefix { $0 != "}" })?.number })
    }

    /// Returns the number and the pointer of `json:2:/id`, or `nil` if the name has no number.
    static func split(_ name: Substring) -> (number: Int, pointer: String)? {
        guard name.hasPrefix("json:") else { return nil }
        let rest = name.dropFirst(5)
        guard let colon = rest.firstIndex(of: ":"), rest.first != "/" else { return nil }
        guard let number = Int(rest[..<colon]) else { return nil }
        return (number, String(rest[rest.index(after: colon)...]))
    }
}
