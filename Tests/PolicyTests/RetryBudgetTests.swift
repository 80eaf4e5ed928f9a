import Policy
import Testing
import Time

/// How many calls may be retried.
@Suite struct RetryBudgetTests {
    private static let start = Instant.start + 1000 * .second

    /// How many tries are granted, one after the other.
    private func granted(_ budget: inout RetryBudget, at now: Instant) -> Int {
        var count = 0
        while count < 100_000, budget.withdraw(at: now) { count += 1 }
        return count
    }

    @Test func `without calls there are as many as the minimum allows in ten seconds`() {
        var budget = RetryBudget(perThousand: 200, minimumPerSecond: 3)
        #expect(granted(&budget, at: Self.start) == 30)
        #expect(granted(&budget, at: Self.start + 10 * .second) == 0)
        #expect(granted(&budget, at: Self.start + 11 * .second) == 30)
    }

    @Test func `calls of the last ten seconds allow their share besides`() {
        var budget = RetryBudget(perThousand: 250, minimumPerSecond: 1)
        for _ in 0..<103 { budget.deposit(at: Self.start) }
        #expect(granted(&budget, at: Self.start + 9 * .second) == 25 + 10)
        var late = RetryBudget(perThousand: 250, minimumPerSecond: 1)
        for _ in 0..<103 { late.deposit(at: Self.start) }
        #expect(granted(&late, at: Self.start + 10 * .second) == 10)
    }

    @Test func `there may be none at all`() {
        var budget = RetryBudget(perThousand: 0, minimumPerSecond: 0)
        for _ in 0..<1000 { budget.deposit(at: Self.start) }
        #expect(granted(&budget, at: Self.start) == 0)
    }

    @Test func `a long pause, or a clock that goes back, takes nothing and adds nothing`() {
        var budget = RetryBudget(perThousand: 1000, minimumPerSecond: 0)
        for _ in 0..<5 { budget.deposit(at: Self.start) }
        let early = budget.withdraw(at: Self.start - 3 * .second)
        #expect(early)
        #expect(granted(&budget, at: Self.start) == 4)
        #expect(granted(&budget, at: Self.start + 1_000_000 * .second) == 0)
    }

    @Test(arguments: 1...20) func `no ten seconds ever have more`(_ seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        var budget = RetryBudget(perThousand: 500, minimumPerSecond: 2)
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
}
