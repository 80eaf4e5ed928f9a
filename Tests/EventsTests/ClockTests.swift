import Events
import Testing

@Suite struct ClockTests {
    @Test func `a manual clock stands still until it is turned`() {
        let hand = ManualClock(now: 5)
        let clock = Clock.manual(hand)
        #expect(clock.now == 5)
        hand.now += 7
        #expect(clock.now == 12)
    }

    @Test func `the system's clock does not go back`() {
        let clock = Clock.system
        let first = clock.now
        #expect(clock.now >= first)
        #expect(first > 0)
    }

    @Test func `the time of day is after this was written`() {
        #expect(Clock.wall > 1_700_000_000 * .second)
    }

    private static let durations: [(Duration, Nanoseconds)] = [
        (.zero, 0), (.milliseconds(250), 250_000_000), (.nanoseconds(7), 7),
        (.seconds(3600), 3_600_000_000_000), (Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999), 1),
        (.seconds(9_223_372_036), 9_223_372_036_000_000_000), (.seconds(9_223_372_037), .max),
        (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 999_000_000_000_000_000), .max),
        (.seconds(Int64.max), .max),
    ]

    @Test(arguments: durations)
    func `a duration becomes nanoseconds, the longest that fit`(duration: Duration, nanoseconds: Nanoseconds) {
        #expect(Nanoseconds(duration) == nanoseconds)
    }
}
