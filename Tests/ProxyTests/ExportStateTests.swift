import Testing
import Time

@testable import Proxy

/// What becomes of batches of spans and metrics.
@Suite struct ExportStateTests {
    private func time(_ seconds: Int) -> Instant { .start + seconds * .second }

    private func fail(_ state: inout ExportState, _ status: Int?, at seconds: Int = 0, retryAfter: Duration? = nil)
        -> ExportState.Step
    {
        state.failed(
            10,
            isSplittable: true,
            status: status,
            "failed",
            retryAfter: retryAfter,
            at: time(seconds),
            chance: 0.5
        )
    }

    @Test(arguments: [429, 502, 503, 504, nil] as [Int?])
    func `what may pass is retried after growing pauses, for a minute`(_ status: Int?) {
        var state = ExportState()
        let steps = (0..<4).map { _ in fail(&state, status) }
        #expect(steps == [1, 2, 4, 8].map { .retry($0 * .second) })
        #expect(state.failed == 0)
        let last = fail(&state, status, at: 60)
        #expect(last == .next && state.failed == 10)
    }

    @Test func `the receiver says how long`() {
        var state = ExportState()
        let step = fail(&state, 503, retryAfter: 7 * .second)
        #expect(step == .retry(7 * .second))
    }

    @Test(arguments: [400, 401, 404, 500])
    func `what does not pass is given up`(_ status: Int) {
        var state = ExportState()
        let step = fail(&state, status)
        #expect(step == .next && state.failed == 10 && state.error != nil)
        _ = state.succeeded(3)
        #expect(state.exported == 3 && state.error == nil)
    }

    @Test func `what is too large is split, but for a single one`() {
        var state = ExportState()
        let step = fail(&state, 413)
        #expect(step == .split(20 * .millisecond) && state.failed == 0)
        let single = state.failed(
            1,
            isSplittable: false,
            status: 413,
            "",
            retryAfter: nil,
            at: .start,
            chance: 0
        )
        #expect(single == .skip(40 * .millisecond) && state.failed == 1)
    }

    @Test func `a receiver that rejects each part gets fewer and fewer requests`() {
        var state = ExportState()
        var pauses: [Duration] = []
        // The parts of one span: a batch of 512 spans has 1023 parts.
        for count in [512, 256, 128, 64, 32, 16, 8, 4, 2, 1, 1, 2, 1, 1] {
            let step = state.failed(
                count,
                isSplittable: count > 1,
                status: 413,
                "too large",
                retryAfter: nil,
                at: .start,
                chance: 0
            )
            switch step {
            case .split(let pause), .skip(let pause): pauses.append(pause)
            case .next, .retry: Issue.record("the part is not paced")
            }
        }
        #expect(pauses.first == 20 * .millisecond && pauses.last == 5 * .second)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy(<=))
        _ = state.succeeded(1)
        let step = fail(&state, 413)
        #expect(step == .split(20 * .millisecond))
    }

    @Test func `rejected spans are not retried`() {
        var state = ExportState()
        let step = state.succeeded(10, rejected: 4, "too old")
        #expect(step == .next && state.exported == 6 && state.failed == 4 && state.error == "too old")
    }
}
