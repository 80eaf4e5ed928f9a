import Bytes
import HTTP
import Testing
import Time

@testable import Caching

/// What of a stored response a request gets.
@Suite struct StoredPartTests {
    private func part(_ fields: [(String, String)], of stored: [(String, String)] = [], status: Int = 200) -> StoredPart
    {
        let (sent, request) = (head([("cache-control", "max-age=60")] + stored, status: status), head(fields))
        var state = CacheState(limit: 1 << 20)
        let key = ByteQueue()
        let query = CacheState.Query(CacheRequest(head([])), head([]), key: key, resource: 0, at: .start)
        guard case .lead(let flight, _) = state.decide(query, { CacheWaiter($0) { _ in } }),
            let freshness = CacheRule().freshness(
                of: sent,
                hasCredentials: false,
                CacheRule.Times(requested: .start, received: .start, wall: .epoch)
            )
        else { return .unsatisfiable }
        let content = CachedResponse.Content(
            status: status,
            fields: HTTPFields(sent) { _ in true },
            body: Array("0123456789".utf8),
            trailers: HTTPFields()
        )
        let response = CachedResponse(content, freshness, for: flight)
        return StoredPart(of: response, CacheRequest(request), request)
    }

    @Test(arguments: [
        ("bytes=0-3", StoredPart.range(0..<4)), ("bytes=4-", .range(4..<10)), ("bytes=-3", .range(7..<10)),
        ("bytes=-99", .range(0..<10)), ("bytes=9-99", .range(9..<10)), ("bytes=10-", .unsatisfiable),
        ("bytes=-0", .unsatisfiable), ("bytes=3-2", .whole), ("bytes=0-1,3-4", .whole), ("lines=0-1", .whole),
        ("bytes=a-b", .whole), ("bytes=", .whole), ("bytes=0-99999999999999999999999", .range(0..<10)),
        ("bytes=99999999999999999999999-", .unsatisfiable), ("bytes=-", .whole),
    ])
    func `one range is cut from the body`(_ range: String, _ part: StoredPart) {
        #expect(self.part([("range", range)]) == part)
    }

    @Test func `a range counts only of the version that the caller has`() {
        let stored = [("etag", "\"a\""), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]
        let range = ("range", "bytes=0-3")
        #expect(part([range, ("if-range", "\"a\"")], of: stored) == .range(0..<4))
        #expect(part([range, ("if-range", "\"b\"")], of: stored) == .whole)
        #expect(part([range, ("if-range", "W/\"a\"")], of: stored) == .whole)
        #expect(part([range, ("if-range", "Sun, 06 Nov 1994 08:49:37 GMT")], of: stored) == .range(0..<4))
        #expect(part([range, ("if-range", "Sun, 06 Nov 1994 08:49:38 GMT")], of: stored) == .whole)
    }

    @Test func `the conditions of the caller are evaluated`() {
        let stored = [("etag", "W/\"a\""), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]
        #expect(part([("if-none-match", "\"b\", \"a\"")], of: stored) == .notModified)
        #expect(part([("if-none-match", "*")], of: stored) == .notModified)
        #expect(part([("if-none-match", "\"b\"")], of: stored) == .whole)
        let since = ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(part([since], of: stored) == .notModified)
        #expect(part([since, ("if-none-match", "\"b\"")], of: stored) == .whole)
        #expect(part([("if-modified-since", "Sun, 06 Nov 1994 08:49:36 GMT")], of: stored) == .whole)
        #expect(part([since], of: stored, status: 404) == .whole)
    }
}
