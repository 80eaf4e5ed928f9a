import Events
import Testing
import Time

@testable import Proxy

/// What a worker reports to the log of the daemon, with a clock that the test turns.
@Suite struct LogLimiterTests {
    private let clock = ManualClock(now: .start + 1000 * .second)
    private let loop: EventLoop
    private let limiter: LogLimiter
    private let logged = Locked<[String]>([])

    init() {
        let logged = logged
        loop = EventLoop(clock: .manual(clock))
        limiter = LogLimiter(loop: loop) { message in
            let fields = message.fields.map { "\($0.name)=\($0.value)" }
            logged.withLock { $0.append(([message.text] + fields).joined(separator: " ")) }
        }
    }

    private func pass(_ time: Duration) {
        clock.now += time
        loop.turn(waiting: false)
    }

    @Test func `a message about a subject is logged once in ten seconds, and then how many were left out`() {
        for _ in 0..<3 { limiter.note("it broke", about: "a", [("upstream", "a")]) }
        pass(9999 * .millisecond)
        limiter.note("it broke", about: "a", [("upstream", "a")])
        #expect(logged.withLock { $0 } == ["it broke upstream=a"])
        pass(.millisecond)
        limiter.note("it broke", about: "a", [("upstream", "a")])
        pass(60 * .second)
        limiter.note("it broke", about: "a", [("upstream", "a")])
        limiter.note("it broke", about: "a", [("upstream", "a")])
        #expect(
            logged.withLock { $0 } == ["it broke upstream=a", "it broke upstream=a more=3", "it broke upstream=a"]
        )
    }

    @Test func `the fields of a message that is left out are not made`() {
        var count = 0
        func fields() -> [(name: StaticString, value: String)] {
            count += 1
            return []
        }
        for _ in 0..<3 { limiter.note("it broke", about: "a", fields()) }
        #expect(count == 1)
    }

    @Test func `each subject and each text has its own`() {
        for (text, subject) in [("it broke", "a"), ("it broke", "b"), ("it stalled", "a"), ("it broke", "b")] {
            limiter.note(text, about: subject)
        }
        #expect(logged.withLock { $0 } == ["it broke", "it broke", "it stalled"])
    }

    @Test func `more subjects than are remembered are logged all the same`() {
        for subject in 0..<1000 { limiter.note("it broke", about: "\(subject)") }
        #expect(logged.withLock { $0.count } == 1000)
    }
}
