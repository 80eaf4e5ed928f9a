import Events
import Testing
import Time

@Suite struct ClockTests {
    @Test func `a manual clock stands still until it is turned`() {
        let hand = ManualClock(now: .start + .nanoseconds(5))
        let clock = Clock.manual(hand)
        #expect(clock.now == .start + .nanoseconds(5))
        hand.now += .nanoseconds(7)
        #expect(clock.now == .start + .nanoseconds(12))
    }

    @Test func `the system's clock does not go back`() {
        let clock = Clock.system
        let first = clock.now
        #expect(clock.now >= first)
        #expect(first > .start)
    }

    @Test func `the time of day is after this was written`() {
        #expect(Clock.system.wall > WallTime(secondsSince1970: 1_700_000_000))
    }
}
