internal import Bytes
internal import HTTP
internal import Time

/// What tells one version of a representation from every other, byte for byte (RFC 9110 §8.8.1).
enum StrongValidator: Equatable {
    /// An entity tag, with its quotes.
    case tag([UInt8])
    /// The time of the last change.
    case date([UInt8])

    private static let tagName = FieldName("etag")
    private static let lastModified = FieldName("last-modified")
    private static let date = FieldName("date")

    /// How old a change has to be at least when the response is made: until then, another may follow with the same time.
    private static let minAge = 60 * Duration.second

    /// The validator in the head of a response; nil if it is weak or there is none.
    ///
    /// Where there is an entity tag, a date does not count (RFC 9110 §13.1.5).
    init?(_ head: HTTPHead, now: WallTime) {
        if head.first(Self.tagName) != nil {
            guard let tag = head.single(Self.tagName), Self.isStrongTag(tag.span) else { return nil }
            self = .tag(tag)
            return
        }
        guard let modified = head.single(Self.lastModified), let made = head.single(Self.date),
            let modifiedTime = HTTPDate(modified.span, now: now)?.time,
            let madeTime = HTTPDate(made.span, now: now)?.time,
            modifiedTime <= madeTime, madeTime - modifiedTime >= Self.minAge
        else { return nil }
        self = .date(modified)
    }

    /// Whether the bytes are an entity tag that is not weak (RFC 9110 §8.8.3).
    private static func isStrongTag(_ bytes: Span<UInt8>) -> Bool {
        let quote = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes[0] == quote, bytes[bytes.count - 1] == quote else { return false }
        for index in 1..<bytes.count - 1 where bytes[index] == quote || bytes[index] <= 0x20 || bytes[index] == 0x7f {
            return false
        }
        return true
    }

    /// The value of `if-range`.
    var bytes: [UInt8] {
        switch self {
        case .tag(let bytes), .date(let bytes): bytes
        }
    }

    /// Whether a head has this validator, and no other of its kind.
    func matches(_ head: HTTPHead) -> Bool {
        switch self {
        case .tag(let tag): head.single(Self.tagName) == tag
        // A server that has a tag now is another, or has changed.
        case .date(let date): head.first(Self.tagName) == nil && head.single(Self.lastModified) == date
        }
    }

    /// Whether the head of a part says that this is its validator, or leaves a date out.
    func isConfirmed(by head: HTTPHead) -> Bool {
        if case .date = self, head.first(Self.tagName) == nil, head.first(Self.lastModified) == nil { return true }
        return matches(head)
    }

    /// Whether a head has another validator.
    func isContradicted(by head: HTTPHead) -> Bool {
        (head.first(Self.tagName) != nil || head.first(Self.lastModified) != nil) && !matches(head)
    }
}

extension HTTPHead {
    /// The value of a field that must not occur twice; nil if it does, or is missing.
    func single(_ name: FieldName) -> [UInt8]? {
        guard let index = first(name), first(name, from: index + 1) == nil else { return nil }
        return value(at: index).trimmed.array
    }
}
