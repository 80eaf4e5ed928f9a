import HTTP
import Testing
import Time

@testable import Caching

/// What is stored, for how long they are fresh, and what a request gets of them.
@Suite struct FreshnessTests {
    private static let start = Instant.start + 1000 * .second
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let wall = WallTime(secondsSince1970: 784_111_777)
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private func freshness(
        _ fields: [(String, String)],
        _ rule: CacheRule = CacheRule(),
        status: Int = 200,
        hasCredentials: Bool = false,
        delay: Duration = .zero
    ) -> Freshness? {
        let times = CacheRule.Times(requested: Self.start - delay, received: Self.start, wall: Self.wall)
        return rule.freshness(of: head(fields, status: status), hasCredentials: hasCredentials, times)
    }

    private func request(_ fields: (String, String)...) -> CacheRequest { CacheRequest(head(fields)) }

    @Test(arguments: [
        ("no-store, max-age=60", false), ("private, max-age=60", false), ("private=\"x\", max-age=60", false),
        ("max-age=60", true), ("s-maxage=0", true), ("no-cache", true), ("public", false),
        ("no-store, must-understand, max-age=60", true),
    ])
    func `the directives say what is stored`(_ control: String, _ isStored: Bool) {
        #expect((freshness([("cache-control", control)]) != nil) == isStored)
    }

    @Test(arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func `these statuses are stored`(_ status: Int) {
        #expect(freshness([("cache-control", "max-age=1")], status: status) != nil)
    }

    @Test(arguments: [100, 201, 206, 302, 304, 307, 400, 401, 403, 416, 429, 500, 502, 503, 504])
    func `others are not`(_ status: Int) {
        #expect(freshness([("cache-control", "max-age=1")], status: status) == nil)
    }

    @Test(arguments: [
        ("max-age=60", 0, "", false), ("max-age=60", 20, "max-age=10", true), ("max-age=60", 0, "max-age=10", false),
        ("max-age=60", 0, "min-fresh=30", false), ("max-age=60", 0, "min-fresh=120", true),
        ("max-age=60", 0, "no-cache", true), ("no-cache", 0, "", true), ("max-age=0", 0, "", true),
        ("max-age=60", 70, "", true), ("max-age=60, stale-while-revalidate=60", 70, "", false),
    ])
    func `who has use of what another has validated`(
        _ control: String,
        _ age: Int,
        _ asked: String,
        _ isForOne: Bool
    ) {
        let stored = freshness([("cache-control", control), ("age", "\(age)")])
        #expect(stored?.isForOne(request(("cache-control", asked))) == isForOne)
    }

    @Test func `what is for one caller is never stored`() {
        #expect(freshness([("cache-control", "public, max-age=60"), ("set-cookie", "a=b")]) == nil)
        #expect(freshness([("cache-control", "max-age=60"), ("vary", "accept, *")]) == nil)
        let many = (0..<17).map { "x-\($0)" }.joined(separator: ",")
        #expect(freshness([("cache-control", "max-age=60"), ("vary", many)]) == nil)
    }

    @Test(arguments: [
        ("max-age=60", false), ("public, max-age=60", true), ("s-maxage=60", true),
        ("max-age=60, must-revalidate", true),
    ])
    func `with credentials only what is said to be for all is stored`(_ control: String, _ isStored: Bool) {
        #expect((freshness([("cache-control", control)], hasCredentials: true) != nil) == isStored)
    }

    @Test func `the most specific statement counts`() throws {
        let expires = ("expires", "Sun, 06 Nov 1994 08:50:37 GMT")
        let fields = [("date", Self.date), expires]
        #expect(try #require(freshness(fields)).lifetime == 60 * .second)
        #expect(try #require(freshness(fields + [("cache-control", "max-age=5")])).lifetime == 5 * .second)
        #expect(try #require(freshness([("cache-control", "max-age=5, s-maxage=9")])).lifetime == 9 * .second)
        #expect(try #require(freshness([("expires", "0")])).lifetime == .zero)
        #expect(try #require(freshness([], CacheRule(ttl: 7 * .second))).lifetime == 7 * .second)
    }

    @Test func `heuristic freshness is a share of the age, at most a day`() throws {
        let fields = [("date", Self.date), ("last-modified", "Sun, 06 Nov 1994 08:32:57 GMT")]
        #expect(freshness(fields) == nil)
        #expect(try #require(freshness(fields, CacheRule(heuristic: 0.1))).lifetime == 100 * .second)
        let old = [("date", Self.date), ("last-modified", "Sun, 06 Nov 1984 08:32:57 GMT")]
        #expect(try #require(freshness(old, CacheRule(heuristic: 0.1))).lifetime == 86_400 * .second)
    }

    @Test func `the age is the largest of what is known of it`() throws {
        let control = ("cache-control", "max-age=60")
        #expect(
            try #require(freshness([control, ("age", "7")], delay: 2 * .second)).age(at: Self.start) == 9 * .second
        )
        let late = try #require(freshness([control, ("date", "Sun, 06 Nov 1994 08:49:07 GMT")]))
        #expect(late.age(at: Self.start) == 30 * .second)
        #expect(late.age(at: Self.start + 5 * .second) == 35 * .second)
        #expect(try #require(freshness([control, ("age", "x")])).age(at: Self.start) == .zero)
    }

    @Test func `a request may ask for more or less`() throws {
        let stored = try #require(freshness([("cache-control", "max-age=60")]))
        let later = Self.start + 50 * .second
        #expect(stored.use(for: request(), at: later) == .fresh)
        #expect(stored.use(for: request(("cache-control", "no-cache")), at: later) == .validate)
        #expect(stored.use(for: request(("pragma", "no-cache")), at: later) == .validate)
        #expect(stored.use(for: request(("cache-control", "max-age=49")), at: later) == .validate)
        #expect(stored.use(for: request(("cache-control", "min-fresh=11")), at: later) == .validate)
        let stale = Self.start + 70 * .second
        #expect(stored.use(for: request(), at: stale) == .validate)
        #expect(stored.use(for: request(("cache-control", "max-stale=9")), at: stale) == .validate)
        #expect(stored.use(for: request(("cache-control", "max-stale=10")), at: stale) == .stale)
        #expect(stored.use(for: request(("cache-control", "max-stale")), at: stale) == .stale)
    }

    @Test func `what is stale is used as long as both sides allow`() throws {
        let rule = CacheRule(staleIfError: 20 * .second, staleWhileRevalidate: 10 * .second)
        let ofRule = try #require(freshness([("cache-control", "max-age=60")], rule))
        #expect(ofRule.use(for: request(), at: Self.start + 69 * .second) == .background)
        #expect(ofRule.use(for: request(), at: Self.start + 70 * .second) == .validate)
        #expect(ofRule.isUsableOnError(at: Self.start + 79 * .second))
        #expect(!ofRule.isUsableOnError(at: Self.start + 80 * .second))
        let ofBoth = try #require(
            freshness([("cache-control", "max-age=60, stale-while-revalidate=5, stale-if-error=5")], rule)
        )
        #expect(ofBoth.use(for: request(), at: Self.start + 65 * .second) == .validate)
        #expect(!ofBoth.isUsableOnError(at: Self.start + 65 * .second))
    }

    @Test(arguments: ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=60"])
    func `what must be validated is never stale`(_ directive: String) throws {
        let rule = CacheRule(staleIfError: 20 * .second, staleWhileRevalidate: 10 * .second)
        let stored = try #require(freshness([("cache-control", "max-age=60, \(directive)")], rule))
        for time in [0, 61] {
            let now = Self.start + time * .second
            if directive == "no-cache" || time > 60 {
                #expect(stored.use(for: request(("cache-control", "max-stale")), at: now) == .validate)
            }
            #expect(!stored.isUsableOnError(at: now))
        }
    }
}
