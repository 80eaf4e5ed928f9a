internal import Bytes
public import HTTP
public import Time

/// A response that is kept: its head, its body and its trailers, and how fresh it is.
///
/// Never changes: one that was validated is another. Safe on any thread.
public final class CachedResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The fields of the head, without `age`.
    public let fields: HTTPFields
    /// The body as it goes to callers.
    public let body: [UInt8]
    /// The trailers.
    public let trailers: HTTPFields
    /// How fresh it is.
    public let freshness: Freshness
    /// How it is told from others that were made of it: `etag`, whole.
    public let entityTag: [UInt8]?
    /// When it was changed last.
    public let lastModified: WallTime?
    /// Which state of its target it is of.
    let stamp: CacheStamp

    /// What is kept.
    public struct Content: Sendable {
        /// The HTTP status.
        public var status: Int
        /// The fields of the head.
        public var fields: HTTPFields
        /// The body.
        public var body: [UInt8]
        /// The trailers.
        public var trailers: HTTPFields

        /// Puts a response together.
        public init(status: Int, fields: HTTPFields, body: [UInt8], trailers: HTTPFields) {
            (self.status, self.fields, self.body, self.trailers) = (status, fields, body, trailers)
        }
    }

    /// Puts a response together that came for a flight.
    public init(_ content: Content, _ freshness: Freshness, for flight: CacheFlight) {
        (status, fields, body, trailers) = (content.status, content.fields, content.body, content.trailers)
        (self.freshness, stamp) = (freshness, flight.stamp)
        let kept = content.fields
        entityTag = if let index = kept.first(EntityTag.field) { kept.value(at: index).array } else { nil }
        lastModified =
            if let index = kept.first(CacheRule.lastModified) {
                HTTPDate(kept.value(at: index), now: .max)?.time
            } else {
                nil
            }
    }

    /// The same response with another freshness.
    init(_ other: CachedResponse, _ freshness: Freshness) {
        (status, fields, body, trailers) = (other.status, other.fields, other.body, other.trailers)
        (entityTag, lastModified, stamp) = (other.entityTag, other.lastModified, other.stamp)
        self.freshness = freshness
    }

    /// Whether a head that says that it is still good is of another version, going by strong tags.
    public func isOther(than head: HTTPHead) -> Bool {
        guard let index = head.first(EntityTag.field), let own = entityTag else { return false }
        let new = head.value(at: index)
        return !EntityTag.weaklyEqual(new, own.span)
    }

    /// What it was made of, to be changed for one that was validated.
    public var content: Content { Content(status: status, fields: fields, body: body, trailers: trailers) }

    /// Whether the upstream can be asked whether it has changed.
    public var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// Its head with the fields of another that says that it is still good, without those that tell of the body
    /// (RFC 9111 §3.2, §4.3.4).
    public func head(updatedBy other: HTTPHead) -> HTTPHead {
        let (head, fields) = (HTTPHead(), fields)
        head.status = status
        for index in 0..<fields.count {
            let name = fields.name(at: index)
            if Self.isOfBody(name) || other.first(FieldName(name.string)) == nil {
                head.add(name: name, value: fields.value(at: index))
            }
        }
        for index in 0..<other.count where !Self.isOfBody(other.name(at: index)) {
            head.add(name: other.name(at: index), value: other.value(at: index))
        }
        return head
    }

    private static func isOfBody(_ name: Span<UInt8>) -> Bool {
        name.equals("content-encoding") || name.equals("content-type") || name.equals("content-range")
    }

    /// How many bytes it takes.
    var byteCount: Int {
        fields.byteCount + trailers.byteCount + body.capacity + (entityTag?.capacity ?? 0) + 320
    }
}
