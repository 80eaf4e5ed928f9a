import Events
import Testing
import Time

/// The wheel against a model that looks at every timer all the time, through random but repeatable days.
@Suite struct TimerWheelRandomTests {
    @Test(arguments: 1...20)
    func `the wheel does what the model does`(seed: UInt64) {
        var day = RandomDay(seed: seed)
        for _ in 0..<3000 { day.step() }
        #expect(day.mistakes == [])
        #expect(day.firings > 100)
    }
}

private struct RandomDay {
    private(set) var mistakes: [String] = []
    var firings: Int { log.firings }
    private let wheel: TimerWheel
    private let log = Log()
    private var timers: [Timer] = []
    private var random: SplitMix

    /// What the model knows: when each timer is to fire, and what went wrong.
    final class Log {
        var deadlines: [Instant?] = []
        var firings = 0
        var mistakes: [String] = []
    }

    init(seed: UInt64) {
        random = SplitMix(state: seed)
        let start = Instant.start + .nanoseconds(Int64(random.next() % 100_000_000_000))
        wheel = TimerWheel(now: start)
        for index in 0..<20 {
            log.deadlines.append(nil)
            let timer = Timer(on: wheel) { [log, wheel] in
                log.firings += 1
                guard let deadline = log.deadlines[index] else { return log.mistakes.append("fired unasked") }
                if wheel.now < deadline { log.mistakes.append("early by \(deadline - wheel.now)") }
                log.deadlines[index] = nil
            }
            timers.append(timer)
        }
    }

    mutating func step() {
        let index = Int(random.next() % 20)
        switch random.next() % 10 {
        case 0: cancel(index)
        case 1: disarm(index)
        case 2...5: arm(index)
        case 6: wheel.touch(wheel.now + duration() / 10)
        default: pass()
        }
    }

    private mutating func arm(_ index: Int) {
        let delay = duration()
        log.deadlines[index] = wheel.now + delay
        timers[index].arm(after: delay)
    }

    private func cancel(_ index: Int) {
        log.deadlines[index] = nil
        timers[index].cancel()
    }

    private func disarm(_ index: Int) {
        log.deadlines[index] = nil
        timers[index].disarm()
    }

    private mutating func pass() {
        wheel.advance(to: wheel.now + duration() / 4)
        for deadline in log.deadlines {
            guard let deadline, deadline + 10 * .millisecond <= wheel.now else { continue }
            log.mistakes.append("late by \(wheel.now - deadline)")
        }
        if let due = wheel.nextDue, due <= wheel.now { log.mistakes.append("work left") }
        if let next = log.deadlines.compactMap({ $0 }).min() {
            if let due = wheel.nextDue {
                if due >= next + 10 * .millisecond { log.mistakes.append("would sleep too long") }
            } else {
                log.mistakes.append("would sleep for ever")
            }
        }
        mistakes = log.mistakes
    }

    /// From nothing to five hours, short ones as likely as long ones.
    private mutating func duration() -> Duration {
        let magnitude = random.next() % 45
        return .nanoseconds(Int64(random.next() % (1 << magnitude)))
    }
}

/// A small random number generator that can be seeded.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
