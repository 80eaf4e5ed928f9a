import HTTP2Kit
import Testing
import Time

@testable import HTTP

/// The resets that a connection to an upstream sends before no other call begins on it.
@Suite struct HTTP2ResetBudgetTests {
    /// Returns the number of resets, at this distance, of which one is beyond the budget.
    private func count(every pause: Duration, max: Int = 3000) -> Int? {
        var budget = HTTP2ResetBudget()
        var now = Instant.start + .second
        for number in 1...max {
            if budget.spend(at: now) { return number }
            now = now + pause
        }
        return nil
    }

    @Test(
        arguments: [
            (0, 101), (1, 101), (10, 104), (50, 118), (100, 143), (200, 249), (300, 992), (334, nil), (400, nil),
            (1000, nil), (60_000, nil),
        ] as [(Int, Int?)]
    )
    func `a budget is spent by a burst, and not by a slow sequence`(pause: Int, expected: Int?) {
        #expect(count(every: .milliseconds(pause)) == expected)
    }

    @Test func `no half minute has more resets than the strictest server allows`() {
        #expect(HTTP2ResetBudget.burst + 30 * HTTP2ResetBudget.perSecond < 200)
    }

    @Test func `a spent budget is reported once`() {
        var budget = HTTP2ResetBudget()
        let reports = (0..<500).count { _ in budget.spend(at: .start + .second) }
        #expect(reports == 1 && budget.isSpent)
    }

    @Test(arguments: [100, 101])
    func `a session reports that its budget is spent`(count: Int) {
        let upstream = HTTP2Upstream()
        for _ in 0..<count {
            let user = upstream.asks()
            _ = upstream.receive()
            user.stream?.reset(.canceled)
            _ = upstream.receive()
        }
        #expect(upstream.saw.contains("spent resets") == (count > 100))
        #expect(!upstream.isClosed)
    }
}
