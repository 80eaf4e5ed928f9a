internal import Bytes
internal import Caching
internal import HTTP
internal import Proxy
internal import Time

/// What a call gets of a stored response.
struct CacheReply {
    private let response: CachedResponse
    private let part: StoredPart
    private let call: Call
    private let scratch: ByteQueue

    /// Evaluates what the request asks for.
    ///
    /// - Parameters:
    ///   - response: the response.
    ///   - request: what the request asks of a cache.
    ///   - head: its head, as it stood at the cache.
    ///   - call: the call.
    ///   - scratch: where values are written.
    init(
        _ response: CachedResponse,
        _ request: CacheRequest,
        _ head: HTTPHead,
        for call: Call,
        _ scratch: ByteQueue
    ) {
        (self.response, self.call, self.scratch) = (response, call, scratch)
        part = StoredPart(of: response, request, head)
    }

    private static let age = FieldName("age")
    private static let contentRange = FieldName("content-range")
    /// What a response without a body still says (RFC 9110 §15.4.5).
    private static let keptFields = [
        "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
    ].map { Array($0.utf8) }

    /// Makes the response.
    ///
    /// - Parameters:
    ///   - status: what `cache-status` says of it; the time that is left of its freshness is added.
    ///   - detail: what it says behind that.
    ///   - now: the time.
    /// - Returns: the response, to be sent at once.
    func response(_ status: StaticString, _ detail: StaticString = "", at now: Instant) -> StoredResponse {
        let head = call.makeHead()
        head.status = response.status
        switch part {
        case .notModified:
            head.status = 304
            addKept(to: head)
        case .unsatisfiable:
            head.status = 416
            setRange(nil, in: head)
        case .range(let range):
            head.status = 206
            head.add(response.fields)
            setRange(range, in: head)
        case .whole: head.add(response.fields)
        }
        addAge(to: head, at: now)
        call.addCacheStatus(to: head) { text in
            text.append(status)
            text.append(detail)
            text.append("; ttl=")
            text.append(decimal: response.freshness.remaining(at: now).seconds)
        }
        switch part {
        case .notModified, .unsatisfiable: return StoredResponse(head, [])
        case .range(let range): return StoredResponse(head, response.body, range)
        case .whole: return StoredResponse(head, response.body, trailers: trailers)
        }
    }

    private var trailers: HTTPHead? {
        guard response.trailers.count > 0 else { return nil }
        let trailers = call.makeHead()
        trailers.add(response.trailers)
        return trailers
    }

    private func addKept(to head: HTTPHead) {
        let fields = response.fields
        for index in 0..<fields.count where Self.keptFields.contains(where: { fields.name(at: index).equals($0) }) {
            head.add(name: fields.name(at: index), value: fields.value(at: index))
        }
    }

    private func addAge(to head: HTTPHead, at now: Instant) {
        let scratch = scratch
        scratch.removeAll()
        scratch.append(decimal: max(0, response.freshness.age(at: now).seconds))
        head.add(Self.age, scratch.readable)
    }

    private func setRange(_ range: Range<Int>?, in head: HTTPHead) {
        let text = scratch
        text.removeAll()
        text.append("bytes ")
        if let range {
            text.append(decimal: range.lowerBound)
            text.append("-")
            text.append(decimal: range.upperBound - 1)
        } else {
            text.append("*")
        }
        text.append("/")
        text.append(decimal: response.body.count)
        head.add(Self.contentRange, text.readable)
    }
}
