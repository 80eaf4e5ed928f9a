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
        guard let stale, validates || isBackground else { return }
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
    func begin(_ head: HTTPHead, _ freshness: Freshness, at now: Instant) {
        drop()
        if !freshness.isReusable(at: now) {
            let flight = flight
            for waiter in store.withState({ $0.open(flight, at: now) }) { waiter.wake(.goOn) }
        }
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

    /// What becomes of bytes of a body.
    enum Capture {
        case kept, tooLarge, noRoom
        /// It has more than one message.
        case stream
    }

    /// Keeps bytes of the body.
    func append(_ bytes: Span<UInt8>, in rpcProtocol: RPCProtocol) -> Capture {
        guard let arrived else { return .kept }
        let needed = arrived.body.count + bytes.count
        guard needed <= store.settings.object else { return .tooLarge }
        if needed > reserved {
            // In steps, as others wait for the store meanwhile.
            let more = max(needed - reserved, min(64 * 1024, store.settings.object - reserved))
            guard store.withState({ $0.reserve(more) }) else { return .noRoom }
            reserved += more
        }
        arrived.body.append(bytes)
        guard rpcProtocol == .grpc || rpcProtocol == .grpcWeb, needed > Envelope.size else { return .kept }
        let end = Self.firstEnd(arrived.body)
        return needed <= end || Self.isOne(arrived.body, endingAt: end) ? .kept : .stream
    }

    /// Whether the body is one message, as that of a unary RPC; a stream may have the same type.
    func isOneMessage(in rpcProtocol: RPCProtocol) -> Bool {
        guard let arrived, rpcProtocol.hasEnvelopes else { return true }
        let body = rpcProtocol == .grpcWebText ? Self.decoded(arrived.body) : arrived.body
        guard body.count >= Envelope.size else { return false }
        return Self.isOne(body, endingAt: Self.firstEnd(body))
    }

    /// Where the first message of a body ends.
    private static func firstEnd(_ body: ByteQueue) -> Int {
        let bytes = body.readable
        return Envelope.size + (1..<Envelope.size).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    /// Whether only trailers are behind the first message, if there are any.
    private static func isOne(_ body: ByteQueue, endingAt end: Int) -> Bool {
        let bytes = body.readable
        guard bytes[0] & ~Envelope.compressed == 0, end <= bytes.count else { return false }
        return end == bytes.count || bytes[end] & Envelope.trailers != 0
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
    ///
    /// - Returns: whether there can be room for it.
    func store(trailers: HTTPHead, in rpcProtocol: RPCProtocol, at now: Instant) -> Bool {
        guard var arrived = arrived.take() else { return true }
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
        return end(.stored(CachedResponse(content, arrived.freshness, for: flight), arrived.names), at: now) != .goOn
    }

    /// The upstream says that the stored response is still good: it is stored with the fields that have come
    /// (RFC 9111 §4.3.4).
    ///
    /// - Returns: the response for the call; one whose new fields do not let it be stored is not.
    func freshen(
        _ arrived: HTTPHead,
        _ rule: CacheRule,
        hasCredentials: Bool,
        _ times: CacheRule.Times
    ) -> CachedResponse? {
        guard let stale else { return nil }
        // One that confirms another version says nothing of this one, but that the upstream still has it.
        guard !stale.isOther(than: arrived) else {
            forgo(at: times.received)
            return stale
        }
        let merged = stale.head(updatedBy: arrived)
        var content = stale.content
        content.fields = Self.fields(of: merged)
        guard let freshness = rule.freshness(of: merged, hasCredentials: hasCredentials, times) else {
            forgo(at: times.received)
            return CachedResponse(content, stale.freshness, for: flight)
        }
        let response = CachedResponse(content, freshness, for: flight)
        end(.stored(response, VaryNames(merged)), at: times.received)
        return response
    }

    /// What is stored is not used any more.
    private func forgo(at now: Instant) {
        let flight = flight
        store.withState { $0.drop(flight) }
        end(.passed, at: now)
    }

    /// The upstream could not be asked whether the stored response is still good: nobody asks it before `time`.
    func postpone(until time: Instant) {
        guard let stale else { return }
        let flight = flight
        store.withState { $0.postpone(flight, stale, until: time) }
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
    ///
    /// - Returns: what they are told; nil if it had ended.
    @discardableResult
    func end(_ end: CacheFlight.End, at now: Instant) -> CacheWaiter.Word? {
        drop()
        guard !hasEnded else { return nil }
        hasEnded = true
        let (flight, head) = (flight, head)
        let (waiters, word) = store.withState { $0.end(flight, end, head, at: now) }
        for waiter in waiters { waiter.wake(word) }
        return word
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
