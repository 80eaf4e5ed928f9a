internal import Bytes
internal import Caching
internal import Configuration
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC
internal import Time

/// A call that fetches a response for a cache, and what has come of that so far.
///
/// Belongs to the worker's thread.
final class CacheFetch {
    /// What is known of the response that is to be stored.
    private struct Arrived {
        let status: Int
        var fields: HTTPFields
        let freshness: Freshness
        let names: VaryNames
        let body = ByteQueue()
    }

    let flight: CacheFlight
    /// Why the request goes upstream, as `cache-status` says it.
    let cause: StaticString
    /// The response that is stored already, but is not to be used as it is.
    let stale: CachedResponse?
    /// Whether the request asks the upstream if that has changed.
    let validates: Bool
    /// Whether nobody waits for the response.
    let isBackground: Bool
    /// The request as it stood at the cache: what is changed behind it is no part of a key.
    let head: HTTPHead
    private let store: CacheStore
    private var arrived: Arrived?
    private var reserved = 0
    private var hasEnded = false
    /// Whether it was told to metrics and log what became of the call.
    var isNoted = false

    init(
        _ flight: CacheFlight,
        _ call: Call,
        _ cause: StaticString,
        stale: CachedResponse?,
        in store: CacheStore,
        isBackground: Bool = false
    ) {
        (self.flight, self.stale, self.store, self.isBackground) = (flight, stale, store, isBackground)
        self.cause = cause
        head = HTTPHead()
        head.copy(call.request)
        validates = stale?.hasValidator == true
    }

    /// Asks the upstream only whether the stored response is still good, of which the caller's own conditions are evaluated.
    func prepare(_ request: HTTPHead) {
        guard let stale, validates else { return }
        for name in [Self.ifNoneMatch, Self.ifModifiedSince, Self.range, Self.ifRange] { request.remove(name) }
        if let tag = stale.entityTag { request.set(Self.ifNoneMatch, tag.span) }
        guard let index = stale.fields.first(Self.lastModified) else { return }
        let fields = stale.fields
        request.set(Self.ifModifiedSince, fields.value(at: index))
    }

    private static let ifNoneMatch = FieldName("if-none-match")
    private static let ifModifiedSince = FieldName("if-modified-since")
    private static let range = FieldName("range")
    private static let ifRange = FieldName("if-range")
    private static let lastModified = FieldName("last-modified")

    // MARK: The response

    /// Whether the response is being kept.
    var isStoring: Bool { arrived != nil }

    /// The head of a response has come that is to be stored.
    func begin(_ head: HTTPHead, _ freshness: Freshness) {
        drop()
        arrived = Arrived(
            status: head.status,
            fields: Self.fields(of: head),
            freshness: freshness,
            names: VaryNames(head)
        )
    }

    /// What is kept of a head: not what was said of this one response.
    private static func fields(of head: HTTPHead) -> HTTPFields {
        HTTPFields(head) { index in
            let name = head.name(at: index)
            return !name.equals("age")
        }
    }

    /// Keeps bytes of the body; false if there is no room for them.
    func append(_ bytes: Span<UInt8>) -> Bool {
        guard let arrived else { return true }
        let count = bytes.count
        guard arrived.body.count + count <= store.settings.object,
            store.withState({ $0.reserve(count) })
        else { return false }
        reserved += count
        arrived.body.append(bytes)
        return true
    }

    /// Whether the body is one message, as that of a unary RPC; a stream may have the same type.
    func isOneMessage(in rpcProtocol: RPCProtocol) -> Bool {
        guard let arrived, rpcProtocol.hasEnvelopes else { return true }
        let queue = rpcProtocol == .grpcWebText ? Self.decoded(arrived.body) : arrived.body
        let body = queue.readable
        guard body.count >= Envelope.size else { return false }
        let length = (1..<Envelope.size).reduce(0) { $0 << 8 | Int(body[$1]) }
        let end = Envelope.size + length
        return body[0] & ~Envelope.compressed == 0
            && (end == body.count || end < body.count && body[end] & Envelope.trailers != 0)
    }

    private static func decoded(_ text: ByteQueue) -> ByteQueue {
        let (text, bytes) = (text.readable, ByteQueue())
        var decoder = Base64Decoder()
        for index in text.indices {
            if let byte = decoder.next(text[index]) { bytes.append(byte: byte) }
        }
        return bytes
    }

    /// The response is complete: it is stored, with its trailers where the protocol has them.
    func store(trailers: HTTPHead, in rpcProtocol: RPCProtocol, at now: Instant) {
        guard var arrived = arrived.take() else { return }
        var behind = HTTPFields()
        for index in 0..<trailers.count {
            let (name, value) = (trailers.name(at: index), trailers.value(at: index))
            if rpcProtocol.isUnaryConnect {
                let full = ByteQueue()
                full.append("trailer-")
                full.append(name)
                arrived.fields.add(name: full.readable, value: value)
            } else if rpcProtocol == .grpc || rpcProtocol == .http {
                behind.add(name: name, value: value)
            }
        }
        let queue = arrived.body
        let content = CachedResponse.Content(
            status: arrived.status,
            fields: arrived.fields,
            body: queue.readable.array,
            trailers: behind
        )
        end(.stored(CachedResponse(content, arrived.freshness, for: flight), arrived.names), at: now)
    }

    /// The upstream says that the stored response is still good: it is stored with the fields that have come
    /// (RFC 9111 §4.3.4).
    ///
    /// - Returns: the response; none if the new fields do not let it be stored.
    func freshen(
        _ arrived: HTTPHead,
        _ rule: CacheRule,
        hasCredentials: Bool,
        _ times: CacheRule.Times
    ) -> CachedResponse? {
        guard let stale else { return nil }
        let merged = stale.head(updatedBy: arrived)
        guard let freshness = rule.freshness(of: merged, hasCredentials: hasCredentials, times) else {
            end(.passed, at: times.received)
            return nil
        }
        var content = stale.content
        content.fields = Self.fields(of: merged)
        let response = CachedResponse(content, freshness, for: flight)
        end(.stored(response, VaryNames(merged)), at: times.received)
        return response
    }

    /// Whether the response to a HEAD request is of another one than the stored response (RFC 9111 §4.3.5).
    func differs(_ arrived: HTTPHead) -> Bool {
        guard let stale else { return false }
        if let length = arrived.contentLength, length != stale.body.count { return true }
        return [EntityTag.field, Self.lastModified].contains { name in
            guard let new = arrived.first(name), let known = stale.fields.first(name) else { return false }
            let fields = stale.fields
            return !arrived.value(at: new).equals(fields.value(at: known))
        }
    }

    // MARK: The end

    /// The fetch has ended; those that wait are told, the first time.
    func end(_ end: CacheFlight.End, at now: Instant) {
        drop()
        guard !hasEnded else { return }
        hasEnded = true
        let (flight, head) = (flight, head)
        let (waiters, word) = store.withState { $0.end(flight, end, head, at: now) }
        for waiter in waiters { waiter.wake(word) }
    }

    /// Nothing of a response is kept.
    private func drop() {
        arrived = nil
        guard reserved > 0 else { return }
        let count = reserved
        reserved = 0
        store.withState { $0.release(count) }
    }
}
