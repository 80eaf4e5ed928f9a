internal import Bytes

extension HTTPHead {
    private static let cookie = FieldName("cookie")

    /// Makes one field of the several that HTTP/2 may split cookies into (RFC 9113 §8.2.3).
    package func joinCookies() {
        guard let first = first(.cookie), var next = self.first(.cookie, from: first + 1) else { return }
        var joined = value(at: first).array
        while true {
            joined += [UInt8(ascii: ";"), UInt8(ascii: " ")] + value(at: next).array
            guard let following = self.first(.cookie, from: next + 1) else { break }
            next = following
        }
        remove(Self.cookie, from: first + 1)
        setValue(at: first, joined.span)
    }
}
