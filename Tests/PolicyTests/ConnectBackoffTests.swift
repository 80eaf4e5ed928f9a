import Policy
import Testing
import Time

/// When a connection is retried.
@Suite struct ConnectBackoffTests {
    @Test func `pauses double only for connections that were begun behind them`() {
        var backoff = ConnectBackoff(at: .start)
        backoff.failed(at: .start + 10 * .millisecond)
        #expect(backoff.retryAt == .start + 50 * .millisecond)
        backoff.failed(at: .start + 60 * .millisecond)
        #expect(backoff.retryAt == .start + 160 * .millisecond)
    }

    @Test func `no pause is longer than a second`() {
        var backoff = ConnectBackoff(at: .start)
        var pauses: [Int] = []
        for _ in 0..<7 {
            let now = backoff.retryAt
            backoff.failed(at: now)
            pauses.append((backoff.retryAt - now) / .millisecond)
        }
        #expect(pauses == [100, 200, 400, 800, 1000, 1000, 1000])
    }
}
