import Policy
import Testing
import Time

/// When a credential is fetched anew.
@Suite struct RefreshScheduleTests {
    private func pause(lifetime: Double, ahead: Double, random: Double = 0) -> Double? {
        let start = WallTime(secondsSince1970: 1_700_000_000)
        let expiry = start + Duration(clampingNanoseconds: lifetime * 1e9)
        return RefreshSchedule(ahead: Duration(clampingNanoseconds: ahead * 1e9)).pause(
            fetched: start,
            expiry: expiry,
            random: random
        )
        .map(\.fractionalSeconds)
    }

    @Test(arguments: [
        (3600.0, 30.0, 3570.0),  // ahead of its end
        (301, 30, 271), (300, 30, 240),  // a short one, at four fifths
        (100, 0, 80), (100, 20, 80), (100, 30, 70),
        (40, 30, 20),  // never before its half
        (600, 900, 300), (3600, 0, 3598),
        (1.5, 30, 0.75), (-5, 30, 0.1),  // never at once
    ])
    func `a credential is fetched anew ahead of its end`(lifetime: Double, ahead: Double, pause expected: Double) {
        #expect(pause(lifetime: lifetime, ahead: ahead) == expected)
    }

    @Test func `chance makes it earlier, by a tenth of the lead at most`() {
        #expect(pause(lifetime: 3600, ahead: 30, random: 0.5) == 3568.5)
        for random in stride(from: 0.0, to: 1, by: 0.01) {
            let pause = pause(lifetime: 3600, ahead: 30, random: random)!
            #expect(pause > 3567 && pause <= 3570)
        }
    }

    @Test func `a credential that does not end is not fetched anew`() {
        #expect(RefreshSchedule(ahead: .second).pause(fetched: .epoch, expiry: nil, random: 0) == nil)
    }

    @Test func `one that ends at the end of time is no fault`() {
        let schedule = RefreshSchedule(ahead: 30 * .second)
        #expect(schedule.pause(fetched: .epoch + .second, expiry: .max, random: 0.9)! > 9_000_000_000 * .second)
        #expect(schedule.pause(fetched: .epoch + .second, expiry: .min, random: 0.9) == 100 * .millisecond)
    }

    @Test func `errors are followed by longer and longer waits, until one succeeds`() {
        var schedule = RefreshSchedule(ahead: .zero)
        let longest = (0..<100).map { _ in schedule.failed(random: 1) / .millisecond }
        #expect(longest.prefix(9) == [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
        #expect(longest[99] == 30_000)
        #expect(schedule.errors == 100)
        schedule.succeeded()
        #expect(schedule.errors == 0)
        #expect(schedule.failed(random: 0) == 125 * .millisecond)
        #expect(schedule.failed(random: 0.5) == 375 * .millisecond)
    }

    @Test func `Retry-After is obeyed, up to five minutes`() {
        var schedule = RefreshSchedule(ahead: .zero)
        #expect(schedule.failed(random: 0, retryAfter: .zero) == 125 * .millisecond)
        #expect(schedule.failed(random: 0, retryAfter: 100 * .second) == 100 * .second)
        #expect(schedule.failed(random: 0, retryAfter: .max) == 300 * .second)
    }
}
