/// A string with its place in the file.
public struct MarkedString: Hashable, Sendable {
    /// The string.
    public let text: String
    /// Where it stands.
    @NotCompared public private(set) var mark: Mark

    /// Places `text` at `mark`.
    public init(_ text: String, at mark: Mark) {
        self.text = text
        self.mark = mark
    }
}
