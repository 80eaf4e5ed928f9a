import HTTP2Kit
import Testing
import Time

@testable import HTTP

/// The resets that a connection to an upstream sends before no other call begins on it.
@Suite struct HTTP2ResetBudgetTests {
    /// Returns the number of resets, at this distance, of which one is beyond the budget.
    private func count(every pause: Duration, age: Duration?, completed: Int = 0, max: Int = 3000) -> Int? {
        var budget = HTTP2ResetBudget()
        var now = Instant.start + .seconds(10)
        for number in 1...max {
            for _ in 0...completed { budget.countClosed() }
            if budget.spend(at: now, unansweredSince: age.map { now - $0 }) { return number }
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
        #expect(count(every: .milliseconds(pause), age: nil) == expected)
        #expect(count(every: .milliseconds(pause), age: .seconds(2)) == expected)
    }

    @Test(
        arguments: [(0, 16), (1, 16), (10, 18), (30, 28), (60, 122), (100, 143), (334, 200), (60_000, 200)]
    )
    func `early resets spend a budget sooner`(pause: Int, expected: Int) {
        #expect(count(every: .milliseconds(pause), age: .milliseconds(249)) == expected)
    }

    @Test(arguments: [(0, 200), (1, 200), (2, nil), (100, nil)] as [(Int, Int?)])
    func `early resets spend a budget if they are two in five of all streams`(completed: Int, expected: Int?) {
        #expect(count(every: .second, age: .zero, completed: completed) == expected)
    }

    @Test(arguments: [(100, 143), (334, 200), (60_000, 200)])
    func `premature resets spend a budget if they are two in five of all streams, though not at once`(
        pause: Int,
        expected: Int
    ) {
        #expect(count(every: .milliseconds(pause), age: .milliseconds(1999)) == expected)
        #expect(count(every: .zero, age: .milliseconds(250)) == HTTP2ResetBudget.burst + 1)
    }

    /// The reset that exceeds the budget has been sent, too.
    @Test func `an application that accepts streams in time never has 21 pending resets`() {
        let pending = Int64(HTTP2ResetBudget.earlyPerSecond) * HTTP2ResetBudget.earlyAge.nanoseconds / 1_000_000_000
        #expect(HTTP2ResetBudget.earlyBurst + Int(pending) + 1 <= 20)
    }

    @Test func `a spent budget is reported once`() {
        var budget = HTTP2ResetBudget()
        let reports = (0..<500).count { _ in budget.spend(at: .start + .second, unansweredSince: nil) }
        #expect(reports == 1 && budget.isSpent)
    }

    @Test(arguments: ResetLimit.all)
    func `a budget is spent before a server ends the connection`(limit: ResetLimit) {
        for pause in [1, 10, 50, 200, 1000] {
            for share in [30, 60, 100] {
                let ends = limit.begin()
                let isEnded = until(spent: streams(pause: pause, share: share)).contains { ends($0) }
                #expect(!isEnded, "a pause up to \(pause) ms, \(share) % resets")
            }
        }
    }

    /// Draws streams of which this share, in percent, is reset, four in five of them before a response.
    private func streams(pause: Int, share: Int) -> [ClosedStream] {
        var generator = SeededGenerator(seed: UInt64(pause * share))
        var closed = Instant.start + .seconds(100)
        return (0..<1500).map { _ in
            closed = closed + .milliseconds(Int.random(in: 0...pause, using: &generator))
            let age = [0, 0, 100, 200, 300, 1900, 2100].randomElement(using: &generator)!
            return ClosedStream(
                sentAt: closed - .milliseconds(age),
                closed: closed,
                isReset: Int.random(in: 1...100, using: &generator) <= share,
                hasResponse: Int.random(in: 1...5, using: &generator) == 1
            )
        }
    }

    /// Returns the streams until a budget is spent, or all streams.
    private func until(spent streams: [ClosedStream]) -> ArraySlice<ClosedStream> {
        var budget = HTTP2ResetBudget()
        let last = streams.firstIndex { stream in
            budget.countClosed()
            guard stream.isReset else { return false }
            return budget.spend(at: stream.closed, unansweredSince: stream.hasResponse ? nil : stream.sentAt)
        }
        return streams[...(last ?? streams.endIndex - 1)]
    }

    @Test(arguments: [false, true])
    func `a session counts resets before and after a response`(hasResponse: Bool) {
        let limit = hasResponse ? HTTP2ResetBudget.burst : HTTP2ResetBudget.earlyBurst
        let upstream = HTTP2Upstream()
        for number in 0...limit {
            #expect(!upstream.saw.contains("spent resets"))
            let user = upstream.asks()
            _ = upstream.receive()
            if hasResponse { upstream.responses(.response(2 * number + 1)) }
            user.stream?.reset(.canceled)
            _ = upstream.receive()
        }
        #expect(upstream.saw.contains("spent resets") && !upstream.isClosed)
    }

    @Test func `a session does not count a request that it has not sent`() {
        let upstream = HTTP2Upstream()
        for _ in 0...HTTP2ResetBudget.burst { upstream.asks().stream?.reset(.canceled) }
        _ = upstream.receive()
        #expect(!upstream.saw.contains("spent resets"))
    }
}
