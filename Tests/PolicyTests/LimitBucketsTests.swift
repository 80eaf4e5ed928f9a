import Bytes
import Policy
import Testing
import Time

/// How the calls of a limit are counted, with a clock that the test turns.
@Suite struct LimitBucketsTests {
    private func buckets(_ rate: String? = nil, burst: Int? = nil, concurrency: Int? = nil, keys: Int = 10)
        -> LimitBuckets
    {
        let rate = rate.flatMap { Rate(text: $0) }
        return LimitBuckets(
            LimitSettings(
                name: "limit",
                rate: rate,
                burst: burst ?? rate?.count ?? 0,
                concurrency: concurrency,
                key: "",
                keys: keys
            )
        )
    }

    private func enter(_ buckets: inout LimitBuckets, _ key: String? = nil, at now: Instant)
        -> LimitBuckets.Admission
    {
        guard let key else { return buckets.enter(nil, at: now) }
        let bytes = Array(key.utf8)
        return buckets.enter(bytes.span, at: now)
    }

    /// How many of a thousand calls are let in at once.
    private func room(_ buckets: inout LimitBuckets, at now: Instant) -> Int {
        (0..<1000).count { _ in enter(&buckets, at: now).decision == .admitted }
    }

    private let start = Instant.start + 1000 * .second

    @Test func `a burst is let in at once, and then as many as the rate says`() {
        var buckets = buckets("10/s", burst: 3)
        #expect(room(&buckets, at: start) == 3)
        #expect(room(&buckets, at: start + 99 * .millisecond) == 0)
        #expect(room(&buckets, at: start + 100 * .millisecond) == 1)
        #expect(room(&buckets, at: start + 299 * .millisecond) == 1)
        #expect(room(&buckets, at: start + 300 * .millisecond) == 1)
        #expect(room(&buckets, at: start + 60 * .second) == 3)
    }

    @Test(arguments: [("7/s", 700), ("999/s", 99_900), ("90/m", 150), ("36/h", 1), ("35/h", 0)])
    func `over a long time it is the rate to the call`(rate: String, calls: Int) {
        var buckets = buckets(rate, burst: 1000)
        _ = room(&buckets, at: start)
        var admitted = 0
        // Steps that no period is a multiple of.
        for step in stride(from: Int64(0), to: 100_000_000_000, by: 333_333_337) {
            admitted += room(&buckets, at: start + .nanoseconds(step))
        }
        #expect(admitted + room(&buckets, at: start + 100 * .second) == calls)
    }

    @Test func `who is rejected is reported how long to wait, to the nanosecond`() {
        var buckets = buckets("3/s", burst: 1)
        _ = enter(&buckets, at: start)
        #expect(enter(&buckets, at: start).decision == .tooFast(wait: .nanoseconds(333_333_334)))
        #expect(enter(&buckets, at: start + .nanoseconds(333_333_333)).decision == .tooFast(wait: .nanoseconds(1)))
        #expect(enter(&buckets, at: start + .nanoseconds(333_333_334)).decision == .admitted)
    }

    @Test func `time that stands or goes back gives nothing`() {
        var buckets = buckets("1/s")
        _ = enter(&buckets, at: start)
        #expect(enter(&buckets, at: start - .second).decision == .tooFast(wait: .second))
        #expect(enter(&buckets, at: start).decision == .tooFast(wait: .second))
        #expect(enter(&buckets, at: start + .second).decision == .admitted)
    }

    @Test func `as many calls are under way as may be`() {
        var buckets = buckets(concurrency: 2)
        let calls = (0..<2).map { _ in enter(&buckets, at: start) }
        #expect(calls.allSatisfy { $0.decision == .admitted })
        #expect(enter(&buckets, at: start).decision == .tooMany)
        buckets.leave(calls[0].slot)
        #expect(room(&buckets, at: start) == 1)
    }

    @Test func `a call that finds no room takes nothing of the rate`() {
        var buckets = buckets("2/h", concurrency: 1)
        let call = enter(&buckets, at: start)
        #expect(room(&buckets, at: start) == 0)
        buckets.leave(call.slot)
        #expect(room(&buckets, at: start) == 1)
    }

    @Test func `each key has its own`() {
        var buckets = buckets("1/h", concurrency: 5)
        #expect(enter(&buckets, "a", at: start).decision == .admitted)
        #expect(enter(&buckets, "", at: start).decision == .admitted)
        #expect(enter(&buckets, "b", at: start).decision == .admitted)
        #expect(enter(&buckets, "a", at: start).decision != .admitted)
    }

    @Test func `when there is no room, keys that are as if new go, and if none is, calls are counted together`() {
        var buckets = buckets("1/s", concurrency: 1, keys: 2)
        let held = enter(&buckets, "a", at: start)
        buckets.leave(enter(&buckets, "b", at: start).slot)
        let crowded = enter(&buckets, "c", at: start)
        #expect(crowded == LimitBuckets.Admission(decision: .admitted, slot: 0, isCrowded: true))
        #expect(enter(&buckets, "d", at: start).decision == .tooMany)
        let later = start + .second
        #expect(!enter(&buckets, "c", at: later).isCrowded)
        #expect(enter(&buckets, "d", at: later).isCrowded)
        #expect(enter(&buckets, "a", at: later).decision == .tooMany)
        buckets.leave(held.slot)
        #expect(enter(&buckets, "a", at: later).decision == .admitted)
    }

    @Test func `many keys that are made up are looked through now and then only`() {
        var buckets = buckets(concurrency: 1, keys: 1)
        let first = enter(&buckets, "a", at: start)
        #expect(enter(&buckets, "b", at: start).isCrowded)
        buckets.leave(first.slot)
        #expect(enter(&buckets, "b", at: start).isCrowded)
        #expect(!enter(&buckets, "b", at: start + LimitBuckets.sweepPause).isCrowded)
    }

    @Test func `a key that is too long is not remembered`() {
        var buckets = buckets("1/s")
        #expect(!enter(&buckets, String(repeating: "a", count: 256), at: start).isCrowded)
        #expect(enter(&buckets, String(repeating: "a", count: 257), at: start).isCrowded)
    }

    @Test(arguments: ["", "100", "/s", "100/", "100/d", "0/s", "-1/s", "+1/s", "1.5/s", "1000001/s", "1/s/s", " 1/s"])
    func `what is no rate is none`(_ text: String) {
        #expect(Rate(text: text) == nil)
    }
}
