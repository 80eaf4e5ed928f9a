import Testing
import Time

@testable import Proxy

/// When types are fetched.
struct ReflectionScheduleTests {
    private let start = Instant.start + 1000 * .second

    private func made() -> ReflectionSchedule { ReflectionSchedule(refresh: 300 * .second, at: start) }

    @Test func `the first fetch begins at once, and the next after the pause`() {
        var schedule = made()
        #expect(schedule.due == start)
        schedule.begin(at: start)
        schedule.succeed(at: start + 2 * .second)
        #expect(schedule.due == start + 302 * .second)
    }

    @Test func `pauses after errors grow to half a minute, and a success ends that`() {
        var (schedule, now) = (made(), start)
        var pauses: [Int] = []
        for _ in 0..<10 {
            schedule.begin(at: now)
            schedule.fail(at: now, random: 0)
            pauses.append((schedule.due - now) / .millisecond)
            now = schedule.due
        }
        #expect(pauses == [125, 250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
        schedule.begin(at: now)
        schedule.succeed(at: now)
        schedule.begin(at: now)
        schedule.fail(at: now, random: 0)
        #expect(schedule.due == now + 125 * .millisecond)
    }

    @Test func `an unknown method has one more fetch begin, half a minute after the last`() {
        var schedule = made()
        schedule.begin(at: start)
        schedule.succeed(at: start)
        schedule.request(at: start + .second)
        schedule.request(at: start + 2 * .second)
        #expect(schedule.due == start + 30 * .second)
        schedule.begin(at: start + 30 * .second)
        schedule.succeed(at: start + 30 * .second)
        #expect(schedule.due == start + 330 * .second)
        schedule.request(at: start + 100 * .second)
        #expect(schedule.due == start + 100 * .second)
    }

    @Test func `an unknown method during a fetch is not forgotten`() {
        var schedule = made()
        schedule.begin(at: start)
        schedule.request(at: start + .second)
        schedule.succeed(at: start + 2 * .second)
        #expect(schedule.due == start + 30 * .second)
    }

    @Test func `an unknown method makes no retry later`() {
        var schedule = made()
        schedule.begin(at: start)
        schedule.fail(at: start, random: 0)
        schedule.request(at: start)
        #expect(schedule.due == start + 125 * .millisecond)
    }
}
