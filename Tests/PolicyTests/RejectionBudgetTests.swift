import Policy
import Testing
import Time

/// How many rejections of a credential lead to a fetch.
@Suite struct RejectionBudgetTests {
    private static let start = Instant.start + 1000 * .second

    /// How many of a hundred rejections lead to a fetch.
    private func spent(_ budget: inout RejectionBudget, _ upstream: String, at now: Instant) -> Int {
        (0..<100).count { _ in budget.spend(upstream, at: now) }
    }

    @Test func `an upstream may cause five fetches in vain, and then one in ten seconds`() {
        var budget = RejectionBudget()
        #expect(spent(&budget, "a", at: Self.start) == 5)
        #expect(spent(&budget, "a", at: Self.start + 9999 * .millisecond) == 0)
        #expect(spent(&budget, "a", at: Self.start + 10 * .second) == 1)
        #expect(spent(&budget, "a", at: Self.start + 35 * .second) == 2)
        // Half a pause is left of those.
        #expect(spent(&budget, "a", at: Self.start + 40 * .second) == 1)
        #expect(spent(&budget, "a", at: Self.start + 3600 * .second) == 5)
    }

    @Test func `no upstream spends what is another's`() {
        var budget = RejectionBudget()
        #expect(spent(&budget, "a", at: Self.start) == 5)
        #expect(spent(&budget, "b", at: Self.start) == 5)
    }

    @Test func `a fetch that mends a call costs nothing, once in a second`() {
        var budget = RejectionBudget()
        budget.mended("a", at: Self.start)
        #expect(spent(&budget, "a", at: Self.start) == 5)
        budget.mended("a", at: Self.start)
        #expect(spent(&budget, "a", at: Self.start) == 5)
        budget.mended("a", at: Self.start + 999 * .millisecond)
        #expect(spent(&budget, "a", at: Self.start + 999 * .millisecond) == 0)
        budget.mended("a", at: Self.start + .second)
        #expect(spent(&budget, "a", at: Self.start + .second) == 5)
    }

    @Test func `an upstream that is remembered no more has caused nothing`() {
        var budget = RejectionBudget()
        #expect(spent(&budget, "a", at: Self.start) == 5)
        // While they come, those that have spent something stay.
        for index in 0..<200 { _ = budget.spend("\(index)", at: Self.start + .second) }
        #expect(spent(&budget, "a", at: Self.start + .second) == 0)
        // When all have rested, they go, and that is not seen.
        #expect(spent(&budget, "new", at: Self.start + 100 * .second) == 5)
        #expect(spent(&budget, "a", at: Self.start + 100 * .second) == 5)
    }
}
