import Events
import Testing
import Time

/// Timers on a wheel whose time the test turns.
@Suite struct TimerTests {
    private static let start = Instant.start + .nanoseconds(1_234_567_890)
    private let wheel = TimerWheel(now: start)
    private let fired = Fired()

    private func timer(_ name: String) -> Timer {
        Timer(on: wheel) { [fired] in fired.names.append(name) }
    }

    private func pass(_ time: Duration) {
        wheel.advance(to: wheel.now + time)
    }

    /// How long after its delay the timer fires, if time passes a millisecond at a time.
    private func lateness(after delay: Duration) -> Duration? {
        let deadline = wheel.now + delay
        let timer = timer("x")
        timer.arm(after: delay)
        while wheel.now < deadline + .second {
            pass(.millisecond)
            if !fired.names.isEmpty { return wheel.now - deadline }
        }
        return nil
    }

    private static let delays: [Int64] = [
        0, 1, 1_000_000, 9_999_999, 10_000_000, 10_000_001, 1_000_000_000, 10_000_000_000, 10_239_999_999,
        10_240_000_000, 10_240_000_001, 10_250_000_000, 20_480_000_000, 31_000_000_000,
    ]

    @Test(arguments: delays)
    func `a timer fires once, not early and at most ten milliseconds late`(nanoseconds: Int64) throws {
        let late = try #require(lateness(after: .nanoseconds(nanoseconds)))
        #expect(late >= .zero)
        // One more is the step of the test.
        #expect(late <= 11 * .millisecond)
        pass(60 * .second)
        #expect(fired.names == ["x"])
        #expect(wheel.nextDue == nil)
    }

    @Test func `timers fire in the order of their times`() {
        let timers = [("c", 300), ("a", 100), ("d", 20_000), ("b", 200)].map { name, delay in
            let timer = timer(name)
            timer.arm(after: delay * .millisecond)
            return timer
        }
        pass(30 * .second)
        #expect(fired.names == ["a", "b", "c", "d"])
        #expect(timers.allSatisfy { !$0.isArmed })
    }

    @Test func `a timer behind one that arms itself again in its action is not missed`() {
        let later = Timer(on: wheel) { [fired] in fired.names.append("later") }
        let first = Timer(on: wheel) { [fired] in
            fired.names.append("first")
            later.arm(after: .second)
        }
        let second = timer("second")
        first.arm(after: 20 * .millisecond)
        second.arm(after: 50 * .millisecond)
        pass(30 * .millisecond)
        #expect(fired.names == ["first"])
        pass(30 * .millisecond)
        #expect(fired.names == ["first", "second"])
        pass(.second)
        #expect(fired.names == ["first", "second", "later"])
    }

    @Test(arguments: [(5, 100), (100, 5), (25_000, 12_000), (25_000, 5), (40_000, 20_500), (5, 25_000)])
    func `arming again moves the deadline, forth and back`(before: Int, after: Int) {
        let timer = timer("x")
        timer.arm(after: before * .millisecond)
        timer.arm(after: after * .millisecond)
        pass((after - 1) * .millisecond)
        #expect(fired.names.isEmpty)
        pass(11 * .millisecond)
        #expect(fired.names == ["x"])
        pass(60 * .second)
        #expect(fired.names == ["x"])
    }

    @Test func `a timer that is pushed back all the time does not fire`() {
        let timer = timer("x")
        for _ in 0..<1000 {
            timer.arm(after: 15 * .second)
            pass(100 * .millisecond)
        }
        #expect(fired.names.isEmpty)
        #expect(timer.isArmed)
    }

    @Test func `no delay means never`() {
        let timer = timer("x")
        timer.arm(after: .second)
        timer.arm(after: nil)
        #expect(!timer.isArmed)
        pass(60 * .second)
        #expect(fired.names.isEmpty)
    }

    @Test func `a disarmed timer is looked at once and then removed`() {
        let timer = timer("x")
        timer.arm(after: .second)
        timer.disarm()
        #expect(wheel.nextDue != nil)
        pass(2 * .second)
        #expect(wheel.nextDue == nil)
        #expect(fired.names.isEmpty)
        timer.arm(after: .second)
        pass(2 * .second)
        #expect(fired.names == ["x"])
    }

    @Test func `a cancelled timer is let go of`() {
        weak var watched: Timer?
        do {
            let timer = timer("x")
            watched = timer
            timer.arm(after: 15 * .second)
            timer.cancel()
            timer.cancel()
        }
        #expect(watched == nil)
        pass(60 * .second)
        #expect(fired.names.isEmpty)
    }

    @Test func `an action may cancel, disarm and arm the others of its turn, and itself`() {
        let canceled = timer("canceled")
        let disarmed = timer("disarmed")
        let moved = timer("moved")
        let box = TimerBox()
        let acting = Timer(on: wheel) { [fired] in
            fired.names.append("acting")
            canceled.cancel()
            disarmed.disarm()
            moved.arm(after: .second)
            if fired.names.count < 2 { box.timer?.arm(after: .second) }
        }
        box.timer = acting
        for timer in [acting, canceled, disarmed, moved] { timer.arm(after: 5 * .millisecond) }
        pass(20 * .millisecond)
        #expect(fired.names == ["acting"])
        pass(2 * .second)
        #expect(fired.names.sorted() == ["acting", "acting", "moved"])
        box.timer = nil
    }

    @Test func `an action that arms itself for now does not hold the wheel`() {
        let box = TimerBox()
        let acting = Timer(on: wheel) { [fired] in
            fired.names.append("x")
            box.timer?.arm(after: .zero)
        }
        box.timer = acting
        acting.arm(after: .zero)
        pass(20 * .millisecond)
        #expect(fired.names.count == 1)
        pass(20 * .millisecond)
        #expect(fired.names.count == 2)
        box.timer = nil
        acting.cancel()
    }

    private static let ages: [Duration] = [.max, .max - .nanoseconds(1), .max / 2, 34_560_000 * .second]

    @Test(arguments: ages)
    func `a delay may be as long as one likes`(delay: Duration) {
        let timer = timer("x")
        timer.arm(after: delay)
        for _ in 0..<10 { pass(3600 * .second) }
        #expect(timer.isArmed)
        #expect(fired.names.isEmpty)
        timer.arm(after: .second)
        pass(2 * .second)
        #expect(fired.names == ["x"])
    }

    @Test func `a timer hours away comes through the far slots in time`() {
        let timer = timer("x")
        timer.arm(after: 7 * 3600 * .second)
        pass(7 * 3600 * .second - .nanoseconds(1))
        #expect(fired.names.isEmpty)
        pass(10 * .millisecond + .nanoseconds(1))
        #expect(fired.names == ["x"])
    }

    @Test func `a timer armed after the loop was held up does not fire early`() {
        let early = timer("early")
        early.arm(after: 3760 * .millisecond)
        wheel.touch(wheel.now + 5 * .second)
        let late = timer("late")
        late.arm(after: 9 * .second)
        wheel.advance(to: wheel.now)
        #expect(fired.names == ["early"])
        pass(8999 * .millisecond)
        #expect(fired.names == ["early"])
        pass(11 * .millisecond)
        #expect(fired.names == ["early", "late"])
    }

    @Test func `the wheel says when an earlier timer comes`() {
        let count = Fired()
        wheel.becameEarlier = { count.names.append("") }
        let timers = [50, 90, 20, 70].map { delay in
            let timer = timer("\(delay)")
            timer.arm(after: delay * .millisecond)
            return timer
        }
        #expect(count.names.count == 2)
        #expect(timers.count == 4)
    }

    @Test func `time does not go back`() {
        wheel.touch(Self.start - .second)
        #expect(wheel.now == Self.start)
    }
}

private final class Fired {
    var names: [String] = []
}

private final class TimerBox {
    var timer: Timer?
}
