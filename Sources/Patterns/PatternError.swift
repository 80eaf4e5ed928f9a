/// What is wrong with a pattern or a replacement.
public struct PatternError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Where in the text, in bytes from its beginning.
    public let offset: Int
    /// What is wrong, in words.
    public let message: String

    /// The words, and where.
    public var description: String { "\(message) (at offset \(offset))" }
}
