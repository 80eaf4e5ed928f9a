import Policy
import Testing
import Time

/// A bucket of tokens, with a clock that the test turns.
@Suite struct TokenBucketTests {
    /// The same in the plainest form: fractions with `period` for a denominator, in numbers that cannot overflow.
    private struct Model {
        let count: Int
        let period: Duration
        let burst: Int
        /// The numerator of what is left.
        var level: Int128
        var latest = Instant.start

        init(_ count: Int, per period: Duration, burst: Int) {
            (self.count, self.period, self.burst) = (count, period, burst)
            level = Int128(burst) * Int128(period.nanoseconds)
        }

        mutating func advance(to now: Instant) {
            guard now > latest else { return }
            level += Int128((now - latest).nanoseconds) * Int128(count)
            latest = now
            cap()
        }

        mutating func add(_ tokens: Int) {
            level += Int128(tokens) * Int128(period.nanoseconds)
            cap()
        }

        private mutating func cap() { level = min(level, Int128(burst) * Int128(period.nanoseconds)) }

        mutating func spend(at now: Instant) -> Bool {
            advance(to: now)
            guard level >= Int128(period.nanoseconds) else { return false }
            level -= Int128(period.nanoseconds)
            return true
        }

        mutating func lend(_ tokens: Int, at now: Instant) {
            advance(to: now)
            level -= Int128(tokens) * Int128(period.nanoseconds)
        }

        func wait(for tokens: Int) -> Duration {
            let missing = Int128(tokens) * Int128(period.nanoseconds) - level
            return missing <= 0 ? .zero : .nanoseconds(Int64((missing + Int128(count) - 1) / Int128(count)))
        }

        var isFull: Bool { level == Int128(burst) * Int128(period.nanoseconds) }
    }

    private static let start = Instant.start + 1000 * .second

    private func spent(_ bucket: inout TokenBucket, at now: Instant) -> Int {
        var count = 0
        while count < 100_000, bucket.spend(at: now) { count += 1 }
        return count
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `it does what exact fractions do, whenever it is asked`(_ seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        let count = [1, 3, 7, 100, 999, 1_000_000].randomElement(using: &random)!
        let period = [Duration.nanoseconds(7), .second, 10 * .second, 3600 * .second].randomElement(using: &random)!
        let burst = Int.random(in: 0...20, using: &random)
        var bucket = TokenBucket(count, per: period, burst: burst)
        var model = Model(count, per: period, burst: burst)
        // About one token for each step, be it long or short.
        let step = max(1, period.nanoseconds / Int64(count))
        var now = Self.start
        var counts = [true: 0, false: 0]
        for _ in 0..<2000 {
            now += .nanoseconds(Int64.random(in: -step...2 * step, using: &random))
            if Int.random(in: 0..<100, using: &random) == 0 { now += .nanoseconds(100 * step) }
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                bucket.lend(3, at: now)
                model.lend(3, at: now)
            case 1:
                bucket.add(2)
                model.add(2)
            case 2:
                bucket.refill(at: now)
                model.advance(to: now)
            default:
                let (isSpent, isExpected) = (bucket.spend(at: now), model.spend(at: now))
                try #require(isSpent == isExpected)
                counts[isSpent, default: 0] += 1
            }
            try #require(bucket.wait(for: 0) == model.wait(for: 0))
            try #require(bucket.wait(for: 1) == model.wait(for: 1))
            try #require(bucket.isFull == model.isFull)
        }
        #expect(counts.values.allSatisfy { $0 > 20 } || burst == 0)
    }

    @Test(arguments: [(7, Duration.second), (3, 10 * .second), (1_000_000, 3600 * .second)])
    func `nothing is lost or won over a million questions`(_ count: Int, _ period: Duration) {
        var bucket = TokenBucket(count, per: period, burst: 2)
        #expect(spent(&bucket, at: Self.start) == 2)
        var total = 0
        // A step in which no whole token comes; a million of them are not a multiple of the period either.
        let step = period.nanoseconds / Int64(count) / 3 + 1
        for index in 1...1_000_000 where bucket.spend(at: Self.start + .nanoseconds(Int64(index) * step)) { total += 1 }
        #expect(total == Int(1_000_000 * step * Int64(count) / period.nanoseconds))
    }

    @Test func `it never holds more than its burst`() {
        var bucket = TokenBucket(1000, per: .second, burst: 5)
        #expect(bucket.isFull)
        #expect(spent(&bucket, at: .start) == 5)
        #expect(!bucket.isFull)
        #expect(spent(&bucket, at: Self.start) == 5)
        #expect(spent(&bucket, at: .max) == 5)
        bucket.add(1_000_000)
        #expect(bucket.isFull)
        #expect(spent(&bucket, at: .max) == 5)
        bucket.fill()
        #expect(spent(&bucket, at: .max) == 5)
    }

    @Test func `time that goes back adds nothing, not even when it has come back`() {
        var bucket = TokenBucket(1, per: .second, burst: 1)
        #expect(spent(&bucket, at: Self.start) == 1)
        for seconds in [-1, -500, 0] { #expect(spent(&bucket, at: Self.start + seconds * .second) == 0) }
        #expect(spent(&bucket, at: Self.start + 999 * .millisecond) == 0)
        #expect(spent(&bucket, at: Self.start + .second) == 1)
    }

    @Test func `a wait is as long as it has to be, to the nanosecond`() {
        var bucket = TokenBucket(3, per: .second, burst: 2)
        #expect(bucket.wait(for: 2) == .zero)
        _ = spent(&bucket, at: Self.start)
        #expect(bucket.wait(for: 0) == .zero)
        #expect(bucket.wait(for: 1) == .nanoseconds(333_333_334))
        #expect(bucket.wait(for: 2) == .nanoseconds(666_666_667))
        #expect(spent(&bucket, at: Self.start + .nanoseconds(333_333_333)) == 0)
        #expect(spent(&bucket, at: Self.start + .nanoseconds(333_333_334)) == 1)
    }

    @Test func `a loan is paid back before the bucket refills`() {
        var bucket = TokenBucket(10, per: .second, burst: 1)
        bucket.lend(6, at: Self.start)
        #expect(bucket.wait(for: 0) == 500 * .millisecond)
        #expect(spent(&bucket, at: Self.start + 599 * .millisecond) == 0)
        #expect(spent(&bucket, at: Self.start + 600 * .millisecond) == 1)
    }

    @Test func `numbers that do not fit are the highest`() {
        var bucket = TokenBucket(1, per: 3600 * .second, burst: .max)
        let isSpent = bucket.spend(at: Self.start)
        #expect(isSpent && !bucket.isFull)
        bucket.refill(at: .max)
        #expect(bucket.isFull)
        bucket.lend(.max, at: .max)
        bucket.lend(.max, at: .max)
        #expect(bucket.wait(for: .max) == .max)
        var debtor = TokenBucket(1, per: .second, burst: 0)
        debtor.lend(.max, at: Self.start)
        debtor.lend(.max, at: Self.start)
        #expect(debtor.wait(for: 0) == .max)
        #expect(debtor.wait(for: 1) == .max)
        #expect(spent(&debtor, at: .max) == 0)
    }

    @Test func `a bucket without a burst is always empty`() {
        var bucket = TokenBucket(1_000_000, per: .second, burst: 0)
        #expect(spent(&bucket, at: Self.start) == 0)
        #expect(spent(&bucket, at: .max) == 0)
    }
}
