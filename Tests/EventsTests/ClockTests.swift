import Events
import Glibc
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

    @Test func `the system's clock counts the time of suspension`() {
        let before = Self.sinceBoot
        let now = Clock.system.now.nanoseconds
        #expect(before...Self.sinceBoot ~= now)
    }

    @Test func `the time awake is no longer than the time since the start`() {
        #expect(Clock.awake > .zero && Clock.awake <= Clock.system.now - .start)
    }

    private static var sinceBoot: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Test func `the time of day is after this was written`() {
        #expect(Clock.system.wall > WallTime(secondsSince1970: 1_700_000_000))
    }
}
