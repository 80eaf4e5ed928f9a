import Configuration
import Events
import Glibc
import Proxy
import Testing
import Time

@testable import Sidecar

/// What watched files cost once they are watched no more.
@Suite struct SettledFilesTests {
    @Test func `nothing is looked at any more after the end`() {
        let hand = ManualClock(now: .start + .second)
        let loop = EventLoop(clock: .manual(hand))
        let writers = LineWriters()
        var told: [String] = []
        var files: SettledFiles? = SettledFiles(loop: loop, log: OperationalLog(writers, level: .error)) { told += $0 }
        _ = files?.use(["/tmp/martlet-test-\(getpid())-none"])
        files?.checkSoon(at: "/tmp/martlet-test-\(getpid())-none")
        files.take()?.end()
        for _ in 0..<3 {
            hand.now += 20 * .second
            loop.turn(waiting: false)
        }
        #expect(told == [])
        writers.finish()
    }
}
