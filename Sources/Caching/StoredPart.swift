internal import Bytes
public import HTTP
internal import Time

/// What of a stored response a request asks for (RFC 9110 §13.1, §14).
public enum StoredPart: Equatable, Sendable {
    /// All of it.
    case whole
    /// Nothing: the caller has it already (304).
    case notModified
    /// Some bytes of the body (206).
    case range(Range<Int>)
    /// Bytes that the body does not have (416).
    case unsatisfiable

    /// Evaluates the conditions and the range of a request of a response that is used for it.
    public init(of response: CachedResponse, _ request: CacheRequest, _ head: HTTPHead) {
        self = .whole
        // A POST of an RPC has none of these.
        guard response.status == 200, head.method.equals("GET") || head.method.equals("HEAD") else { return }
        if request.traits.contains(.validates), Self.isKnown(response, head) { self = .notModified }
        guard self == .whole, request.traits.contains(.range), head.method.equals("GET") else { return }
        guard let index = head.first(Self.range), Self.rangeCounts(response, head) else { return }
        self = Self.part(head.value(at: index), of: response.body.count)
    }

    private static let range = FieldName("range")
    private static let ifRange = FieldName("if-range")
    private static let ifNoneMatch = FieldName("if-none-match")
    private static let ifModifiedSince = FieldName("if-modified-since")

    /// Whether the caller has the response already; `if-none-match` counts alone if it is there.
    private static func isKnown(_ response: CachedResponse, _ head: HTTPHead) -> Bool {
        guard head.first(ifNoneMatch) != nil else {
            guard let since = head.date(ifModifiedSince, now: .max), let modified = response.lastModified else {
                return false
            }
            return modified <= since
        }
        var field = head.first(ifNoneMatch)
        while let found = field {
            let value = head.value(at: found)
            var list = ListReader()
            while let range = list.next(value) {
                let tag = value.extracting(range)
                if tag.equals("*") { return true }
                if let own = response.entityTag, EntityTag.weaklyEqual(tag, own.span) { return true }
            }
            field = head.first(ifNoneMatch, from: found + 1)
        }
        return false
    }

    /// Whether `if-range` names this very response, if it is there.
    private static func rangeCounts(_ response: CachedResponse, _ head: HTTPHead) -> Bool {
        guard let index = head.first(ifRange) else { return true }
        let value = head.value(at: index)
        if let time = HTTPDate(value, now: .max)?.time { return time == response.lastModified }
        return response.entityTag.map { EntityTag.stronglyEqual(value, $0.span) } ?? false
    }

    /// A number of digits; one that is too large is the largest there is.
    private static func number(_ text: Span<UInt8>) -> Int? {
        var number = 0
        for index in text.indices {
            guard 0x30...0x39 ~= text[index] else { return nil }
            let (tenfold, isOver) = number.multipliedReportingOverflow(by: 10)
            number = isOver || tenfold > .max - 9 ? .max - 9 : tenfold + Int(text[index] & 15)
        }
        return text.isEmpty ? nil : number
    }

    /// The bytes that one range means; several ranges, and what is malformed, mean all bytes.
    private static func part(_ value: Span<UInt8>, of length: Int) -> StoredPart {
        let value = value.trimmed
        guard value.hasPrefix("bytes="), value.firstIndex(of: UInt8(ascii: ",")) == nil else { return .whole }
        let text = value.extracting(6..<value.count).trimmed
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else { return .whole }
        let (first, last) = (text.extracting(0..<dash), text.extracting(dash + 1..<text.count))
        guard !first.isEmpty else {
            guard let count = number(last) else { return .whole }
            return count == 0 || length == 0 ? .unsatisfiable : .range(max(0, length - count)..<length)
        }
        guard let start = number(first) else { return .whole }
        guard !last.isEmpty else { return start < length ? .range(start..<length) : .unsatisfiable }
        guard let end = number(last), end >= start else { return .whole }
        return start < length ? .range(start..<min(end, length - 1) + 1) : .unsatisfiable
    }
}
