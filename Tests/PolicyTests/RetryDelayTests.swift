import Policy
import Testing
import Time

/// How long a request waits before it is retried.
@Suite struct RetryDelayTests {
    // MARK: The sequences

    @Test(arguments: [
        (RetryDelay(.immediate), [0, 0, 0, 0, 0, 0]),
        (RetryDelay(.delayed(3 * .second)), [3, 3, 3, 3, 3, 3]),
        (RetryDelay(.exponential(base: 2)), [0.5, 1, 2, 4, 8, 16]),
        (RetryDelay(.exponential(base: 3)), [0.3333333333333333, 1, 3, 9, 27, 81]),
        (RetryDelay(.fibonacci), [0, 1, 1, 2, 3, 5, 8, 13]),
        (RetryDelay(.exponential(base: 2), unit: 100 * .millisecond), [0.05, 0.1, 0.2, 0.4]),
        (RetryDelay(.fibonacci, unit: 2 * .second, cap: 5 * .second), [0, 2, 2, 4, 5, 5]),
        (RetryDelay(.delayed(3 * .second), unit: 2 * .second, cap: .second), [1, 1]),
        (RetryDelay(.exponential(base: 1.5)), [0.6666666666666666, 1, 1.5, 2.25]),
    ])
    func `times grow as the strategy says`(_ delay: RetryDelay, _ seconds: [Double]) {
        let times = seconds.indices.map { delay.time(after: $0, chance: 0.9) }
        #expect(times == seconds.map { Duration(clampingNanoseconds: $0 * 1e9) })
    }

    // MARK: Chance

    @Test(arguments: [(0, 4.0), (0.25, 3.5), (0.5, 3), (1, 2)])
    func `jitter takes off its share of the time`(_ chance: Double, _ seconds: Double) {
        let delay = RetryDelay(.delayed(4 * .second), jitter: 0.5)
        #expect(delay.time(after: 0, chance: chance) == Duration(clampingNanoseconds: seconds * 1e9))
    }

    @Test func `jitter comes after the cap, so that capped retries do not meet`() {
        let delay = RetryDelay(.fibonacci, cap: 2 * .second, jitter: 1)
        #expect(delay.time(after: 50, chance: 0.5) == .second)
        #expect(delay.time(after: 50, chance: 1) == .zero)
    }

    @Test(arguments: [-1, 2, .infinity, -.infinity, .nan] as [Double])
    func `chance that is none makes no time that is none`(_ chance: Double) {
        let time = RetryDelay(.delayed(4 * .second), jitter: 1).time(after: 0, chance: chance)
        #expect((.zero...4 * .second).contains(time))
    }

    // MARK: The longest times

    @Test(arguments: [
        RetryStrategy.exponential(base: 2), .exponential(base: 1000), .exponential(base: .infinity), .fibonacci,
    ])
    func `what is too long is the longest time there is`(_ strategy: RetryStrategy) {
        let delay = RetryDelay(strategy)
        #expect(delay.time(after: 90, chance: 0) == .max)
        #expect(delay.time(after: .max, chance: 0) == .max)
        #expect(RetryDelay(strategy, cap: 60 * .second).time(after: .max, chance: 0) == 60 * .second)
        #expect(RetryDelay(strategy, jitter: 0.5).time(after: .max, chance: 1) > .max / 3)
    }

    @Test func `the last numbers that fit are exact`() {
        #expect(
            RetryStrategy.fibonacci.delay(after: 92, unit: .nanoseconds(1)) == .nanoseconds(7_540_113_804_746_346_429)
        )
        #expect(RetryStrategy.fibonacci.delay(after: 93, unit: .nanoseconds(1)) == .max)
        #expect(RetryStrategy.exponential(base: 2).delay(after: 63, unit: .nanoseconds(1)) == .nanoseconds(1 << 62))
        #expect(RetryStrategy.exponential(base: 2).delay(after: 64, unit: .nanoseconds(1)) == .max)
    }

    @Test(arguments: [
        RetryStrategy.exponential(base: .nan), .exponential(base: -3), .exponential(base: 0),
        .delayed(.nanoseconds(-1)), .fibonacci,
    ])
    func `no time is negative`(_ strategy: RetryStrategy) {
        for retries in [-1, 0, 1, 2, 3, 1000] {
            #expect(RetryDelay(strategy).time(after: retries, chance: 0.5) >= .zero)
            #expect(
                RetryDelay(strategy, unit: .nanoseconds(-1), cap: .nanoseconds(-1), jitter: .nan).time(
                    after: retries,
                    chance: 0.5
                ) >= .zero
            )
        }
    }
}
