internal import Bytes
package import Time

/// A `Set-Cookie` field as RFC 6265 §5.2 reads it.
package struct SetCookie: Equatable, Sendable {
    /// The name of the cookie; never empty.
    package let name: [UInt8]
    /// The value of the cookie.
    package let value: [UInt8]
    /// The attribute `Domain` in small letters, without a dot at its beginning; none if there is none, or an empty one.
    package private(set) var domain: [UInt8]?
    /// The attribute `Path` in the normal form of paths; none if there is none, or one that does not begin with a slash.
    package private(set) var path: [UInt8]?
    /// How many seconds the cookie lives, by `Max-Age`.
    package private(set) var maxAge: Duration?
    /// When the cookie ends, by `Expires`.
    package private(set) var expires: CookieDate?
    /// Whether the cookie goes only where nobody on the way can read it.
    package private(set) var isSecure = false

    /// Reads the value of a field; none if it is to be ignored.
    package init?(_ text: Span<UInt8>) {
        for index in 0..<text.count where text[index] < 0x20 && text[index] != 0x09 || text[index] == 0x7f {
            return nil
        }
        let end = text.firstIndex(of: UInt8(ascii: ";")) ?? text.count
        let pair = text.extracting(0..<end)
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = pair.extracting(0..<equals).trimmed.array
        value = pair.extracting(equals + 1..<pair.count).trimmed.array
        guard !name.isEmpty else { return nil }
        var start = end + 1
        while start < text.count {
            let end = text.firstIndex(of: UInt8(ascii: ";"), from: start) ?? text.count
            read(attribute: text.extracting(start..<end))
            start = end + 1
        }
    }

    /// Of attributes that come twice, the last counts.
    private mutating func read(attribute: Span<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.count
        let name = attribute.extracting(0..<equals).trimmed
        let value = attribute.extracting(min(equals + 1, attribute.count)..<attribute.count).trimmed
        if name.equalsIgnoringCase("expires") {
            if let date = CookieDate(value) { expires = date }
        } else if name.equalsIgnoringCase("max-age") {
            if let age = Self.age(value) { maxAge = age }
        } else if name.equalsIgnoringCase("domain") {
            let start = value.count > 0 && value[0] == UInt8(ascii: ".") ? 1 : 0
            if value.count > 0 { domain = value.extracting(start..<value.count).array.map(\.lowercasedASCII) }
        } else if name.equalsIgnoringCase("path") {
            path = value.count > 0 && value[0] == UInt8(ascii: "/") ? URLPath.normal(value) : nil
        } else if name.equalsIgnoringCase("secure") {
            isSecure = true
        }
    }

    /// The time of a `Max-Age` (§5.2.2); the longest that fits if it is longer, and zero if it is negative.
    private static func age(_ text: Span<UInt8>) -> Duration? {
        let isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard text.count > start else { return isNegative ? .zero : nil }
        for index in start..<text.count where !(0x30...0x39 ~= text[index]) { return nil }
        if isNegative { return .zero }
        return text.decimal.map(Duration.seconds) ?? .max
    }
}
