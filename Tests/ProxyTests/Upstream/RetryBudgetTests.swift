import Configuration
import Documents
import Events
import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// How many calls may be retried.
@Suite struct RetryBudgetTests {
    private static let start = Instant.start + 1000 * .second

    private func budget(_ options: String) throws -> RetryBudget {
        let yaml = "upstreams: {a: {url: \"http://a\", retry_budget: {\(options)}}}"
        let settings = Settings(YAML.parse(Array(yaml.utf8), into: Diagnostics()), into: Diagnostics())
        return RetryBudget(try #require(settings.upstream(named: "a")).retryBudget)
    }

    /// How many tries are granted, one after the other.
    private func granted(_ budget: inout RetryBudget, at now: Instant) -> Int {
        var count = 0
        while count < 100_000, budget.withdraw(at: now) { count += 1 }
        return count
    }

    @Test func `without calls there are as many as the minimum allows in ten seconds`() throws {
        var budget = try budget("ratio: 0.2, min_per_second: 3")
        #expect(granted(&budget, at: Self.start) == 30)
        #expect(granted(&budget, at: Self.start + 10 * .second) == 0)
        #expect(granted(&budget, at: Self.start + 11 * .second) == 30)
    }

    @Test func `calls of the last ten seconds allow their share besides`() throws {
        var budget = try budget("ratio: 0.25, min_per_second: 1")
        for _ in 0..<103 { budget.deposit(at: Self.start) }
        #expect(granted(&budget, at: Self.start + 9 * .second) == 25 + 10)
        var late = try self.budget("ratio: 0.25, min_per_second: 1")
        for _ in 0..<103 { late.deposit(at: Self.start) }
        #expect(granted(&late, at: Self.start + 10 * .second) == 10)
    }

    @Test func `there may be none at all`() throws {
        var budget = try budget("ratio: 0, min_per_second: 0")
        for _ in 0..<1000 { budget.deposit(at: Self.start) }
        #expect(granted(&budget, at: Self.start) == 0)
    }

    @Test func `a long pause, or a clock that goes back, takes nothing and adds nothing`() throws {
        var budget = try budget("ratio: 1, min_per_second: 0")
        for _ in 0..<5 { budget.deposit(at: Self.start) }
        let early = budget.withdraw(at: Self.start - 3 * .second)
        #expect(early)
        #expect(granted(&budget, at: Self.start) == 4)
        #expect(granted(&budget, at: Self.start + 1_000_000 * .second) == 0)
    }

    @Test(arguments: 1...20) func `no ten seconds ever have more`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var budget = try budget("ratio: 0.5, min_per_second: 2")
        var calls: [Instant] = []
        var retries: [Instant] = []
        var now = Self.start
        for _ in 0..<2000 {
            now += .nanoseconds(Int64.random(in: 0...200_000_000, using: &random))
            if Bool.random(using: &random) {
                budget.deposit(at: now)
                calls.append(now)
            } else if budget.withdraw(at: now) {
                retries.append(now)
                let isRecent = { (time: Instant) in time > now - 10 * .second }
                let maxRetries = Double(calls.count(where: isRecent)) * 0.5 + 20
                try #require(Double(retries.count(where: isRecent)) <= maxRetries)
            }
        }
        #expect(retries.count > 20)
    }

    @Test(arguments: [("0", 0), ("0.2", 200), ("1", 1000), ("10", 10_000), ("0.125", 125), ("2.5", 2500)])
    func `a ratio is a number`(_ text: String, _ expected: Int) {
        let diagnostics = Diagnostics()
        #expect(ratio(text, into: diagnostics) == expected)
        #expect(diagnostics.isEmpty)
    }

    @Test(arguments: ["", "-1", "11", "10.001", "0.2000", ".5", "1.", "1.2.3", "20%", "1e3", "١"])
    func `what is no ratio is an error`(_ text: String) {
        let diagnostics = Diagnostics()
        _ = ratio(text, into: diagnostics)
        let advice = "write a number from 0 to 10 with at most three decimals, such as 0.2"
        #expect(diagnostics.sorted.map(\.message) == ["\"ratio\" cannot be \"\(text)\"; \(advice)"])
    }

    private func ratio(_ text: String, into diagnostics: Diagnostics) -> Int? {
        let yaml = "listen: 127.0.0.1:1\nupstreams: {a: {url: \"http://a\", retry_budget: {ratio: \"\(text)\"}}}"
        let settings = Settings(YAML.parse(Array(yaml.utf8), into: diagnostics), into: diagnostics)
        return settings.upstream(named: "a")?.retryBudget.perThousand
    }

    @Test func `a call that is forwarded is counted once, however often it is sent`() {
        let yaml =
            "listen: 127.0.0.1:8080\nupstreams: {default: {url: \"http://127.0.0.1:9000\", retry_budget: {ratio: 1, min_per_second: 0}}}"
        runProxy(yaml) { harness in
            let caller = harness.caller()
            caller.send(get)
            let first = harness.upstream().accept()
            first.expect(gotUpstream)
            first.send(fine)
            caller.expect(fine)
            // The connection turns out to be dead.
            first.reset()
            caller.send(get)
            let second = harness.upstream().accept()
            second.expect(gotUpstream)
            second.send(fine)
            caller.expect(fine)
            let upstream = harness.worker.generation.upstreams["default"]
            let now = harness.clock.now
            var granted = 0
            while granted < 5, upstream?.budget.withdraw(at: now) == true { granted += 1 }
            #expect(granted == 2)
        }
    }
}
