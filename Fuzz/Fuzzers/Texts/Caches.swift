internal import Bytes
internal import HTTP
internal import Time

@testable internal import Caching

/// What a cache reads of requests and responses: fields of a request in lines, an empty line, and fields of a response.
enum Caches {
    private static let body = Array("0123456789".utf8)
    private static let wall = WallTime(secondsSince1970: 1_700_000_000)
    private static let start = Instant.start + 1000 * .second

    static func run(_ input: Span<UInt8>) {
        let lines = input.array.split(separator: 0x0a, maxSplits: 200, omittingEmptySubsequences: false)
        let split = lines.firstIndex { $0.isEmpty } ?? lines.count
        let (asked, sent) = (head(lines[..<split]), head(lines[split...]))
        sent.status = 200
        let (request, names) = (CacheRequest(asked), VaryNames(sent))
        let rule = CacheRule(heuristic: 0.1, staleIfError: 60 * .second, staleWhileRevalidate: 30 * .second)
        let times = CacheRule.Times(requested: start, received: start + .second, wall: wall)
        guard let freshness = rule.freshness(of: sent, hasCredentials: false, times) else { return }
        let shared = rule.freshness(of: sent, hasCredentials: true, times)
        demand(shared == nil || shared == freshness, "credentials change only whether it is stored")
        demand(freshness.age(at: start + .second) >= .second, "an age is not less than what has passed")
        demand(freshness.staleIfError <= 60 * .second, "the file bounds what is stale")
        demandSame(key(names, asked), key(names, asked), "a key is always the same")
        check(request, asked, sent, names, freshness)
    }

    private static func head(_ lines: ArraySlice<ArraySlice<UInt8>>) -> HTTPHead {
        let head = HTTPHead()
        head.setMethod(Array("GET".utf8).span)
        for line in lines {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            let name = Array(parts[0])
            guard parts.count == 2, FieldName.isValid(name.span) else { continue }
            head.add(name: name.span, value: Array(parts[1]).span.trimmed)
        }
        return head
    }

    private static func key(_ names: VaryNames, _ head: HTTPHead) -> [UInt8] {
        let key = ByteQueue()
        key.append("key")
        names.append(of: head, to: key)
        return key.readable.array
    }

    /// Stores the response, and asks for it again.
    private static func check(
        _ request: CacheRequest,
        _ asked: HTTPHead,
        _ sent: HTTPHead,
        _ names: VaryNames,
        _ freshness: Freshness
    ) {
        var state = CacheState(limit: 1 << 16)
        guard let flight = flight(state.decide(query(request, asked), { CacheWaiter($0) { _ in } })) else { return }
        let fields = HTTPFields(sent) { _ in true }
        demandSame(fields.count, sent.count, "all fields are kept")
        let content = CachedResponse.Content(status: 200, fields: fields, body: body, trailers: HTTPFields())
        let response = CachedResponse(content, freshness, for: flight)
        _ = state.end(flight, .stored(response, names), asked, at: start)
        demand(state.byteCount <= 1 << 16, "the bound holds")
        if case .range(let range) = StoredPart(of: response, request, asked) {
            demand(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= body.count, "a part is a part")
        }
        let again = state.decide(query(request, asked)) { CacheWaiter($0) { _ in } }
        if case .serve(let served) = again {
            demand(served.freshness.remaining(at: start) > .zero, "what is served is fresh")
        }
        let merged = response.head(updatedBy: sent)
        demandSame(VaryNames(merged), names, "what was confirmed varies as before")
    }

    private static func query(_ request: CacheRequest, _ head: HTTPHead) -> CacheState.Query {
        let key = ByteQueue()
        key.append("key")
        return CacheState.Query(request, head, key: key, resource: 1, at: start)
    }

    private static func flight(_ decision: CacheState.Decision) -> CacheFlight? {
        switch decision {
        case .lead(let flight, _), .pass(let flight, _): flight
        case .serve, .serveStale, .wait, .lack: nil
        }
    }
}
