/// What is wrong with the contents of a file of certificates or keys, or with a pin.
public struct TLSMaterialError: Error, Equatable, Sendable {
    /// In words, without the name of the file: what is wrong, a semicolon, and what would be right.
    public let text: String

    init(_ text: String) {
        self.text = text
    }
}
