internal import Bytes

/// Hosts as they stand in an authority (RFC 3986 §3.2.2).
public enum Host {
    /// The host of an authority without its port, and without the dot at the end that the root of all names may have.
    ///
    /// An IPv6 address keeps its brackets.
    @_lifetime(copy authority)
    public static func withoutPort(_ authority: Span<UInt8>) -> Span<UInt8> {
        var end = authority.count
        while end > 0, authority[end - 1] &- UInt8(ascii: "0") < 10 { end -= 1 }
        end = end > 0 && authority[end - 1] == UInt8(ascii: ":") ? end - 1 : authority.count
        if end > 1, authority[end - 1] == UInt8(ascii: ".") { end -= 1 }
        return authority.extracting(0..<end)
    }

    /// Whether `host` is `expected`, which is in small letters.
    public static func equal(_ host: Span<UInt8>, _ expected: Span<UInt8>) -> Bool {
        guard host.count == expected.count else { return false }
        for index in 0..<host.count where host[index].lowercasedASCII != expected[index] { return false }
        return true
    }

    /// Whether two valid authorities name the same host and port (RFC 3986 §6.2, RFC 9110 §4.2.3).
    ///
    /// An authority without a port has `defaultPort`.
    static func areSame(_ one: Span<UInt8>, _ other: Span<UInt8>, defaultPort: Int) -> Bool {
        let (first, second) = (nameEnd(one), nameEnd(other))
        guard first == second, port(one, behind: first) ?? defaultPort == port(other, behind: second) ?? defaultPort
        else { return false }
        for index in 0..<first where one[index].lowercasedASCII != other[index].lowercasedASCII { return false }
        return true
    }

    /// Returns where the host ends, and its port begins, if there is one.
    private static func nameEnd(_ authority: Span<UInt8>) -> Int {
        var end = authority.count
        while end > 0, authority[end - 1] &- UInt8(ascii: "0") < 10 { end -= 1 }
        return end > 0 && authority[end - 1] == UInt8(ascii: ":") ? end - 1 : authority.count
    }

    /// Returns the port behind the colon at `end`; nil if none is named.
    private static func port(_ authority: Span<UInt8>, behind end: Int) -> Int? {
        end + 1 < authority.count ? authority.extracting(end + 1..<authority.count).decimal : nil
    }
}
