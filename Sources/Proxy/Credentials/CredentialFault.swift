internal import Documents

/// Why an answer gives no credential.
///
/// It never holds a credential or what it was to be made of.
package enum CredentialFault: Error, Equatable, Sendable {
    /// The answer is not JSON.
    case malformed(line: Int, column: Int, text: String)
    /// There is nothing in a place, which is a JSON Pointer.
    case missing(String)
    /// What is in a place is not what it has to be.
    case invalid(String, expected: String)
    /// The value in a place cannot stand in a header; without a place it is the whole answer.
    case notForHeaders(String?)
    /// The credential had ended before it came.
    case expired
    /// The server refuses to give one: an error with its description (RFC 6749 §5.2).
    case refused(error: String, description: String?)
    /// The server answers with a status that brings none, and says nothing else.
    case status(Int)

    /// In words, what is wrong.
    package var text: String {
        switch self {
        case .malformed(let line, let column, let text):
            "the answer is not JSON: \(text) in line \(line), column \(column)"
        case .missing(let place): "the answer has nothing at \(place)"
        case .invalid(let place, let expected): "what the answer has at \(place) is not \(expected)"
        case .notForHeaders(let place?):
            "what the answer has at \(place) is empty, too long, or has bytes that cannot stand in a header"
        case .notForHeaders(nil): "the answer is empty, too long, or has bytes that cannot stand in a header"
        case .expired: "the credential has expired already"
        case .refused(let error, _) where Self.isName(error): "it was refused: \(error)"
        case .refused: "it was refused"
        case .status(let status): "the status of the answer is \(status)"
        }
    }

    /// Whether an error looks like the name of one.
    ///
    /// Nothing else that a server says is told: it may well repeat what was sent to it.
    private static func isName(_ error: String) -> Bool {
        error.utf8.count <= 40 && error.utf8.allSatisfy { 0x61...0x7a ~= $0 || 0x41...0x5a ~= $0 || $0 == 0x5f }
    }

    /// An error as a server tells it, cut, and with only what RFC 6749 §5.2 allows in it.
    static func refused(by error: String, because description: String?) -> CredentialFault {
        .refused(error: cleaned(error, limit: 64), description: description.map { cleaned($0, limit: 256) })
    }

    init(_ error: JSONError) {
        self = .malformed(line: error.line, column: error.column, text: error.text)
    }

    /// The text on one line: printable ASCII, all else as spaces.
    private static func cleaned(_ text: String, limit: Int) -> String {
        let clean = text.utf8.prefix(limit).map { 0x20...0x7e ~= $0 ? $0 : 0x20 }
        return String(decoding: clean, as: UTF8.self)
    }
}
