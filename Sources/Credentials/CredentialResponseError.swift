internal import Documents

/// Why a response gives no credential.
///
/// It never holds a credential or what it was to be made of.
public enum CredentialResponseError: Error, Equatable, Sendable {
    /// The response is not JSON.
    case malformed(line: Int, column: Int, text: String)
    /// There is nothing in a place, which is a JSON Pointer.
    case missing(String)
    /// What is in a place is not what it has to be.
    case invalid(String, expected: String)
    /// The value in a place cannot stand in a header; without a place it is the whole response.
    case notForHeaders(String?)
    /// The credential had ended before it came.
    case expired
    /// The server rejects the request: the name of its error (RFC 6749 §5.2), if it has said one.
    case rejected(String?)
    /// The server responds with a status that brings none, and says nothing else.
    case status(Int)

    /// In words, what is wrong.
    public var text: String {
        switch self {
        case .malformed(let line, let column, let text):
            "the response is not valid JSON: \(text) in line \(line), column \(column)"
        case .missing(let pointer): "the response has no value at \(pointer)"
        case .invalid(let pointer, let expected): "the value at \(pointer) of the response is not \(expected)"
        case .notForHeaders(let pointer?):
            "the value at \(pointer) of the response is empty, too long, or not valid in a header"
        case .notForHeaders(nil): "the response is empty, too long, or not valid in a header"
        case .expired: "the credential has already expired"
        case .rejected(let error?): "the server rejected the request: \(error)"
        case .rejected(nil): "the server rejected the request"
        case .status(let status): "the response has the status \(status)"
        }
    }

    /// A rejection by an error that a server tells.
    ///
    /// Nothing of it is kept but what looks like a name: it may well repeat what was sent to it.
    static func rejected(by error: String) -> CredentialResponseError {
        let isName = error.utf8.allSatisfy { 0x61...0x7a ~= $0 || 0x41...0x5a ~= $0 || $0 == 0x5f }
        return .rejected(isName && 1...40 ~= error.utf8.count ? error : nil)
    }

    init(_ error: JSONError) {
        self = .malformed(line: error.line, column: error.column, text: error.text)
    }
}
