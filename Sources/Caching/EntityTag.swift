internal import Bytes
public import HTTP

/// Entity tags (RFC 9110 §8.8.3).
public enum EntityTag {
    /// The field that a response says its own in.
    public static let field = FieldName("etag")

    /// Whether it is weak: two responses with it may differ in their bytes.
    public static func isWeak(_ tag: Span<UInt8>) -> Bool { tag.hasPrefix("W/") }

    /// Whether two are the same for both to say the same, weak or not.
    static func weaklyEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool { opaque(one).equals(opaque(other)) }

    /// Whether two are the same, byte for byte of the responses.
    static func stronglyEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool { !isWeak(one) && one.equals(other) }

    @_lifetime(copy tag)
    private static func opaque(_ tag: Span<UInt8>) -> Span<UInt8> {
        isWeak(tag) ? tag.extracting(2..<tag.count) : tag
    }
}
