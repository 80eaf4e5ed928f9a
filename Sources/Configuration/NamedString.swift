/// A name with a string: one entry of a mapping such as header names to values.
public struct NamedString: Equatable, Sendable {
    /// The name.
    public let name: String
    /// Where the name stands.
    @NotCompared public private(set) var nameMark: Mark
    /// The string.
    public let text: String
    /// Where the string stands.
    @NotCompared public private(set) var mark: Mark

    /// Joins `text` to its name.
    public init(name: String, nameMark: Mark, text: String, mark: Mark) {
        self.name = name
        self.nameMark = nameMark
        self.text = text
        self.mark = mark
    }
}
