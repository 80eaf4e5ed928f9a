/// What is wrong with the contents of a file of certificates or keys, or with a pin.
public struct TLSMaterialError: Error, Equatable, Sendable {
    /// In words, without the name of the file: what is wrong, a semicolon, and what would be right.
    public let text: String

    init(_ text: String) {
        self.text = text
    }

    /// What OpenSSL says is wrong with the contents, in words of ours, unless memory was short: then nothing is known of them.
    init(_ error: UInt, _ text: (_ reason: String) -> String) {
        self.text = ErrorQueue.isOfMemory(error) ? "out of memory reading the file" : text(ErrorQueue.text(of: error))
    }
}
