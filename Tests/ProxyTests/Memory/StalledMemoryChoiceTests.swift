import Events
import Testing
import Time

@testable import Proxy

/// Which stalled calls end, and how long they have to be stalled for that.
@Suite struct StalledMemoryChoiceTests {
    private static let patience = [Duration.second, 100 * .millisecond]

    private func choice(_ stalled: [Int: [StalledMemory]], freeing bytes: Int) -> StalledMemory.Choice? {
        StalledMemory.choice(of: stalled, freeing: bytes, patience: Self.patience)
    }

    private func calls(_ bytes: Int..., after time: Duration = 2 * .second) -> [StalledMemory] {
        bytes.map { StalledMemory(bytes: $0, time: time) }
    }

    @Test func `the largest calls end, whichever worker has them`() {
        let stalled = [0: calls(1, 50, 7), 1: calls(40, 3), 2: calls(2)]
        #expect(choice(stalled, freeing: 85)?.counts == [0: 1, 1: 1])
        #expect(choice(stalled, freeing: 91)?.counts == [0: 2, 1: 1])
    }

    @Test func `of calls that hold the same, as many end as it takes`() {
        let alike = [StalledMemory](repeating: StalledMemory(bytes: 64, time: 2 * .second), count: 100)
        let counts = choice([0: alike, 1: alike], freeing: 640)?.counts
        #expect(counts?.values.reduce(0, +) == 10)
    }

    @Test func `a shorter patience counts only where a longer one frees too little`() {
        let stalled = [0: calls(10, 10) + calls(500, after: 200 * .millisecond)]
        #expect(choice(stalled, freeing: 20) == StalledMemory.Choice(time: .second, counts: [0: 2]))
        #expect(choice(stalled, freeing: 21) == StalledMemory.Choice(time: 100 * .millisecond, counts: [0: 1]))
    }

    @Test func `where all free too little, those end first that have been stalled longest`() {
        let stalled = [0: calls(10, 10) + calls(500, after: 200 * .millisecond)]
        #expect(choice(stalled, freeing: 1000) == StalledMemory.Choice(time: .second, counts: [0: 2]))
        let late = [0: calls(500, after: 200 * .millisecond)]
        #expect(choice(late, freeing: 1000) == StalledMemory.Choice(time: 100 * .millisecond, counts: [0: 1]))
    }

    @Test func `nothing ends where nothing is stalled or nothing is to be freed`() {
        #expect(choice([:], freeing: 10) == nil)
        #expect(choice([0: calls(5, after: .millisecond)], freeing: 10) == nil)
        #expect(choice([0: calls(5)], freeing: 0) == nil)
    }

    @Test func `a budget without a limit is never exceeded`() {
        let budget = MemoryBudget()
        budget.add(1 << 40)
        #expect(!budget.isExhausted && !budget.isFarExceeded)
        #expect(budget.patience == Self.patience)
    }

    @Test func `calls have less time where far more is held than may be`() {
        let budget = MemoryBudget(limit: 1000)
        budget.add(1000)
        #expect(budget.isExhausted && !budget.isFarExceeded)
        #expect(budget.excess == 375)
        budget.add(1)
        #expect(budget.isFarExceeded)
        #expect(budget.patience.last == 10 * .millisecond)
    }
}
