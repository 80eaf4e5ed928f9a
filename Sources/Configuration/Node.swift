/// One value of a configuration file, with the place where it stands.
///
/// Two nodes are equal if they say the same; marks are not compared. A mapping keeps the order of the file, and that
/// order counts.
public struct Node: Equatable, Sendable {
    /// What a node holds.
    public enum Content: Equatable, Sendable {
        /// Nothing: an absent value, `~` or `null`.
        case null
        /// Text as it was written; a plain (not quoted) one may also stand for a number or a boolean.
        case scalar(String, quoted: Bool)
        /// A list.
        case sequence([Node])
        /// Keys and values in the order of the file; no key twice.
        case mapping([Entry])
    }

    /// One key of a mapping with its value.
    public struct Entry: Equatable, Sendable {
        /// The key.
        public let key: String
        /// Where the key stands.
        @NotCompared public private(set) var keyMark: Mark
        /// The value.
        public let value: Node

        /// Joins a key to its value.
        public init(key: String, keyMark: Mark, value: Node) {
            self.key = key
            self.keyMark = keyMark
            self.value = value
        }
    }

    /// What the node holds.
    public let content: Content
    /// Where the node starts.
    @NotCompared public private(set) var mark: Mark

    /// Makes a node that stands at `mark`.
    public init(_ content: Content, at mark: Mark) {
        self.content = content
        self.mark = mark
    }

    /// Makes a plain scalar.
    public static func plain(_ text: String, at mark: Mark) -> Node {
        Node(.scalar(text, quoted: false), at: mark)
    }

    /// The text of a scalar; none for anything else.
    public var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// The entries of a mapping, none for anything else; an empty value counts as an empty mapping.
    public var entries: [Entry]? {
        switch content {
        case .mapping(let entries): entries
        case .null: []
        case .scalar, .sequence: nil
        }
    }

    /// The value of `key`, if the node is a mapping that has it.
    public subscript(key: String) -> Node? {
        entries?.first { $0.key == key }?.value
    }

    /// The sort of node, in the words of an error message: `empty`, `a single value`, `a list`, `a mapping`.
    public var shape: String {
        switch content {
        case .null: "empty"
        case .scalar: "a single value"
        case .sequence(let items): items.isEmpty ? "an empty list" : "a list"
        case .mapping(let entries): entries.isEmpty ? "an empty mapping" : "a mapping"
        }
    }

    /// The text of a scalar in quotes, or else the sort of node; not for what may be a secret.
    public var summary: String {
        text.map(Diagnostic.quote) ?? shape
    }
}
