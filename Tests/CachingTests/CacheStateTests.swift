import Bytes
import HTTP
import Testing
import Time

@testable import Caching

/// Who fetches what, and who waits.
@Suite struct CacheStateTests {
    private static let start = Instant.start + 1000 * .second

    /// A cache whose waiters write down what they are told.
    private final class World {
        var state = CacheState(limit: 1 << 20)
        var now = CacheStateTests.start

        func ask(
            _ fields: [(String, String)] = [],
            isAlone: Bool = false,
            hasFailed: Bool = false,
            waitsSince: Instant? = nil
        ) -> CacheState.Decision {
            let (request, key) = (head(fields), ByteQueue())
            key.append("key")
            var query = CacheState.Query(CacheRequest(request), request, key: key, resource: 7, at: now)
            (query.isAlone, query.hasFailed, query.waitsSince) = (isAlone, hasFailed, waitsSince)
            return state.decide(query) { CacheWaiter($0) { _ in } }
        }

        func end(
            _ flight: CacheFlight,
            _ control: String?,
            vary: String? = nil,
            _ fields: [(String, String)] = [],
            rule: CacheRule = CacheRule(),
            bodyTime: Duration = .zero
        ) -> Int {
            guard let control else { return state.end(flight, .passed, head(fields), at: now).waiters.count }
            let sent = head([("cache-control", control)] + (vary.map { [("vary", $0)] } ?? []))
            let times = CacheRule.Times(requested: now - bodyTime, received: now - bodyTime, wall: .epoch)
            guard let freshness = rule.freshness(of: sent, hasCredentials: false, times) else { return -1 }
            let content = CachedResponse.Content(
                status: 200,
                fields: HTTPFields(sent) { _ in true },
                body: Array("\(fields)".utf8),
                trailers: HTTPFields()
            )
            let response = CachedResponse(content, freshness, for: flight)
            return state.end(flight, .stored(response, VaryNames(sent)), head(fields), at: now).waiters.count
        }
    }

    private func flight(_ decision: CacheState.Decision) throws -> CacheFlight {
        guard case .lead(let flight, _) = decision else { throw Surprise.decision("\(decision)") }
        return flight
    }

    private enum Surprise: Error { case decision(String) }

    private func isServed(_ decision: CacheState.Decision) -> Bool {
        if case .serve = decision { true } else { false }
    }

    private func waits(_ decision: CacheState.Decision) -> Bool {
        if case .wait = decision { true } else { false }
    }

    private func passes(_ decision: CacheState.Decision) -> Bool {
        if case .pass = decision { true } else { false }
    }

    @Test func `one fetches, the others wait, and all are served`() throws {
        let world = World()
        let flight = try flight(world.ask())
        #expect((0..<3).allSatisfy { _ in waits(world.ask()) })
        #expect(world.end(flight, "max-age=60") == 3)
        #expect(isServed(world.ask()))
    }

    @Test func `those wait together for whom a response has become too old`() throws {
        let world = World()
        let first = try flight(world.ask())
        _ = world.end(first, "max-age=60")
        world.now += 20 * .second
        let young = [("cache-control", "max-age=10")]
        let second = try flight(world.ask(young))
        #expect((0..<3).allSatisfy { _ in waits(world.ask(young)) })
        #expect(world.end(second, "max-age=60") == 3)
        #expect(isServed(world.ask(young)))
    }

    @Test func `nobody waits again who has waited for what is too old for it when it has come`() throws {
        let world = World()
        let young = [("cache-control", "max-age=1")]
        let first = try flight(world.ask(young))
        #expect(waits(world.ask(young)))
        let (early, late) = (world.now, world.now + .second)
        world.now += 2 * .second
        #expect(world.end(first, "max-age=60", bodyTime: 2 * .second) == 1)
        #expect(passes(world.ask(young, waitsSince: early)))
        // One that came when the head was there already may fare better with the next.
        #expect(!passes(world.ask(young, waitsSince: late)))
    }

    @Test func `nobody waits for what is not stored, for ten seconds`() throws {
        let world = World()
        _ = world.end(try flight(world.ask()), nil)
        #expect(passes(world.ask()))
        world.now += 10 * .second
        _ = try flight(world.ask())
    }

    @Test func `callers that ask for other variants do not wait for this one`() throws {
        let world = World()
        _ = world.end(try flight(world.ask([("x-a", "1")])), "max-age=60", vary: "X-A", [("x-a", "1")])
        #expect(isServed(world.ask([("x-a", "1")])))
        #expect(isServed(world.ask([("x-a", " 1 ")])))
        let other = try flight(world.ask([("x-a", "2")]))
        #expect(waits(world.ask([("x-a", "2")])))
        _ = try flight(world.ask())
        _ = world.end(other, "max-age=60", vary: "x-a", [("x-a", "2")])
        #expect(isServed(world.ask([("x-a", "2")])))
    }

    @Test func `what is under way when the target changes is not stored`() throws {
        let world = World()
        let flight = try flight(world.ask())
        world.state.change(resource: 7)
        _ = world.end(flight, "max-age=60")
        let next = try self.flight(world.ask())
        _ = world.state.purge { _ in true }
        _ = world.end(next, "max-age=60")
        #expect(!isServed(world.ask()))
    }

    @Test func `a stale response is refreshed by one`() throws {
        let (world, rule) = (World(), CacheRule(staleWhileRevalidate: 30 * .second))
        _ = world.end(try flight(world.ask()), "max-age=60", rule: rule)
        world.now += 61 * .second
        guard case .serveStale(_, .some) = world.ask() else { return #expect(Bool(false), "nobody refreshes it") }
        guard case .serveStale(_, nil) = world.ask() else { return #expect(Bool(false), "two refresh it") }
    }

    @Test func `those who have waited for a failure take what is stale`() throws {
        let (world, rule) = (World(), CacheRule(staleIfError: 30 * .second))
        _ = world.end(try flight(world.ask()), "max-age=60", rule: rule)
        world.now += 61 * .second
        guard case .lead(_, .some) = world.ask() else { return #expect(Bool(false), "it is not validated") }
        guard case .serveStale(_, nil) = world.ask(hasFailed: true) else {
            return #expect(Bool(false), "it is not served")
        }
    }

    @Test func `parts, and what goes alone, wait for nobody and mark nothing`() throws {
        let world = World()
        guard case .pass(let flight, nil) = world.ask([("range", "bytes=0-1")]) else {
            return #expect(Bool(false), "a part is fetched for others")
        }
        _ = world.end(flight, nil)
        _ = try self.flight(world.ask())
        #expect(passes(world.ask(isAlone: true)))
    }

    @Test func `without a response, only-if-cached gets none`() {
        let world = World()
        guard case .lack = world.ask([("cache-control", "only-if-cached")]) else {
            return #expect(Bool(false), "it goes upstream")
        }
    }

    @Test(arguments: [(0, false), (500, true)])
    func `one body has room whatever is in use`(_ bodyLimit: Int, _ hasRoom: Bool) throws {
        let world = World()
        world.state = CacheState(limit: 1024, bodyLimit: bodyLimit)
        _ = world.end(try flight(world.ask()), "max-age=60")
        #expect(isServed(world.ask()))
        let isReserved = world.state.reserve(500)
        #expect(isReserved == hasRoom)
    }

    @Test func `bodies under way count, and have a bound`() {
        var state = CacheState(limit: 100)
        let (hasRoom, hasMore) = (state.reserve(60), state.reserve(60))
        #expect(hasRoom && !hasMore)
        #expect(state.byteCount == 60)
        state.release(60)
        #expect(state.byteCount == 0)
    }
}
