private import Bytes

/// The name of a header field, kept in small letters and ready to be looked for.
public struct FieldName: Hashable, Sendable {
    /// The name in small letters.
    public let bytes: [UInt8]
    /// Which of the known fields it is.
    public let known: KnownField

    /// Takes a name; its ASCII capitals are made small.
    public init(_ name: String) {
        let bytes = name.utf8.map(\.lowercasedASCII)
        self.bytes = bytes
        known = KnownField(bytes.span)
    }

    private init(_ bytes: [UInt8], _ known: KnownField) {
        (self.bytes, self.known) = (bytes, known)
    }

    /// An equal name that shares no memory with this one, for a thread whose counts of references no other is to change.
    public var copy: FieldName { FieldName(bytes.map { $0 }, known) }

    /// Whether `name` can be the name of a field: not empty, and nothing but `tchar` (RFC 9110 §5.6.2).
    public static func isValid(_ name: String) -> Bool { isValid(name.utf8Span.span) }

    /// Whether `name` can be the name of a field, in whatever case.
    public static func isValid(_ name: Span<UInt8>) -> Bool {
        for index in name.indices where !HTTP1Grammar.isToken(name[index]) { return false }
        return !name.isEmpty
    }
}
