internal import Bytes
internal import Documents
internal import Events
internal import Time

/// A response in JSON, and how its members are read.
///
/// A member that is null counts as absent. The errors tell the pointer and never what is there.
struct JSONResponse {
    private let root: JSONValue

    init(_ root: JSONValue) {
        self.root = root
    }

    /// The string in a place; nil if there is none.
    func string(_ pointer: String) -> String? {
        root.pointer(pointer)?.string
    }

    /// The string in a place, as a value for a header.
    func header(_ pointer: JSONPointer) throws(CredentialResponseError) -> [UInt8] {
        guard let found = value(pointer) else { throw .missing(pointer.text) }
        guard let text = found.string else { throw .invalid(pointer.text, expected: "a string") }
        guard let value = TokenText.token(in: Array(text.utf8)) else { throw .notForHeaders(pointer.text) }
        return value
    }

    /// The number of seconds in a place, if there is one; some servers write it as a string.
    func lifetime(_ pointer: JSONPointer?) throws(CredentialResponseError) -> Duration? {
        guard let pointer, let found = value(pointer) else { return nil }
        if let time = Self.seconds(found) { return time }
        throw .invalid(pointer.text, expected: "a number of seconds")
    }

    /// The wall time in a place, if there is one.
    func time(_ pointer: JSONPointer?) throws(CredentialResponseError) -> WallTime? {
        guard let pointer, let found = value(pointer) else { return nil }
        // So many seconds that nanoseconds do not reach them are milliseconds.
        if let time = Self.seconds(found), time < .max { return WallTime(sinceEpoch: time) }
        if let time = found.string.flatMap(RFC3339.wallTime) { return time }
        throw .invalid(pointer.text, expected: "an RFC 3339 time or seconds since 1970")
    }

    /// Looks for one of two strings in a place, or nothing at all there.
    func expect(
        _ pointer: String,
        _ expected: String,
        or other: String? = nil,
        ignoringCase: Bool = false
    ) throws(CredentialResponseError) {
        guard let found = root.pointer(pointer), found != .null else { return }
        let form = { (text: String) in ignoringCase ? text.lowercased() : text }
        if let text = found.string, [expected, other].contains(where: { $0.map(form) == form(text) }) { return }
        throw .invalid(pointer, expected: other.map { "\(expected) or \($0)" } ?? expected)
    }

    /// Looks for one of two strings in a place, which may not be empty.
    func require(_ pointer: String, _ expected: String, or other: String? = nil) throws(CredentialResponseError) {
        guard let found = root.pointer(pointer), found != .null else { throw .missing(pointer) }
        try expect(pointer, expected, or: other)
    }

    /// Looks for a whole number in a place.
    func require(version: Int, at pointer: String) throws(CredentialResponseError) {
        guard let found = root.pointer(pointer), found != .null else { throw .missing(pointer) }
        guard found.integer == version else { throw .invalid(pointer, expected: "\(version)") }
    }

    private func value(_ pointer: JSONPointer) -> JSONValue? {
        guard let found = root.value(at: pointer), found != .null else { return nil }
        return found
    }

    /// A number, or the decimal digits of a string, as seconds.
    private static func seconds(_ value: JSONValue) -> Duration? {
        guard let text = value.string else { return Duration(seconds: value) }
        return Array(text.utf8).span.decimal.map(Duration.seconds)
    }
}

extension JSONPointer {
    /// The pointer as it is written (RFC 6901 §3), or words for the empty one.
    fileprivate var text: String {
        guard !tokens.isEmpty else { return "its root" }
        return tokens.map { token in
            token.unicodeScalars.reduce(into: "/") { text, scalar in
                text += scalar == "~" ? "~0" : scalar == "/" ? "~1" : String(scalar)
            }
        }.joined()
    }
}
