import Bytes
import Glibc
import Testing
import Time

@testable import Events

/// The loop with real descriptors and real time.
@Suite struct EventLoopTests {
    @Test func `a turn reports what is ready and nothing else`() throws {
        let loop = EventLoop()
        let (near, far) = try pair()
        let watcher = RecordingWatcher()
        near.start(on: loop, watcher: watcher)
        loop.turn(waiting: false)
        #expect(watcher.reported == [])
        #expect(far.send("hi") == .bytes(2))
        loop.turn()
        #expect(watcher.reported == ["readable"])
        near.watchesRead = false
        near.watchesWrite = true
        loop.turn()
        #expect(watcher.reported == ["readable", "writable"])
        near.watchesWrite = false
        loop.turn(waiting: false)
        #expect(watcher.reported.count == 2)
    }

    @Test func `what is put off to the end of the turn is done in order, and what that puts off too`() {
        let loop = EventLoop()
        let work = Work(loop, again: 3)
        loop.atEndOfTurn(work)
        loop.turn()
        #expect(work.done == 4)
    }

    @Test func `a turn has run long when its time is up, or much is left for its end`() {
        let hand = ManualClock()
        let loop = EventLoop(clock: .manual(hand))
        #expect(!loop.hasRunLong)
        hand.now += 2 * .millisecond
        #expect(loop.hasRunLong)
        loop.finishTurn()
        #expect(!loop.hasRunLong)
        for _ in 0..<200 { loop.atEndOfTurn(Work(loop, again: 0)) }
        #expect(loop.hasRunLong)
        loop.finishTurn()
        #expect(!loop.hasRunLong)
    }

    @Test func `run takes turns until it is reported to stop`() {
        let loop = EventLoop()
        let timer = Timer(on: loop.timers) { loop.stop() }
        timer.arm(after: 20 * .millisecond)
        let before = Clock.system.now
        loop.run()
        #expect(Clock.system.now - before >= 20 * .millisecond)
    }

    @Test func `timers fire in real time, also one that comes before the one waited for`() {
        let loop = EventLoop()
        let fired = Names()
        let long = Timer(on: loop.timers) { fired.all.append("long") }
        let short = Timer(on: loop.timers) { fired.all.append("short") }
        long.arm(after: 60 * .millisecond)
        loop.turn(waiting: false)
        short.arm(after: 20 * .millisecond)
        while fired.all.count < 2 { loop.turn() }
        #expect(fired.all == ["short", "long"])
    }

    @Test func `no timer is missed when the alarm goes off before its time`() {
        let hand = ManualClock()
        let loop = EventLoop(clock: .manual(hand))
        let fired = Names()
        let timer = Timer(on: loop.timers) { fired.all.append("timer") }
        timer.arm(after: 20 * .millisecond)
        // The loop's clock stands still while the real one goes on: each alarm is too early and must be set again.
        for _ in 0..<3 { loop.turn() }
        #expect(fired.all == [])
        hand.now += 40 * .millisecond
        loop.turn()
        #expect(fired.all == ["timer"])
    }

    @Test func `a timer that was disarmed lets the loop sleep`() {
        let loop = EventLoop()
        let disarmed = Timer(on: loop.timers) {}
        let end = Timer(on: loop.timers) {}
        disarmed.arm(after: 15 * .millisecond)
        disarmed.disarm()
        end.arm(after: 150 * .millisecond)
        var turns = 0
        while end.isArmed {
            loop.turn()
            turns += 1
        }
        #expect(turns < 20)
    }

    @Test func `the time stands still during a callback and goes on with the next`() {
        let hand = ManualClock(now: .start + 7 * .second)
        let loop = EventLoop(clock: .manual(hand))
        #expect(loop.now == .start + 7 * .second)
        hand.now = .start + 8 * .second
        #expect(loop.now == .start + 7 * .second)
        loop.finishTurn()
        #expect(loop.now == .start + 8 * .second)
    }

    @Test func `a watch that ends in its own callback reports nothing more`() throws {
        let loop = EventLoop()
        let (near, far) = try pair()
        let watcher = RecordingWatcher()
        watcher.whenReadable = { near.close() }
        near.start(on: loop, watcher: watcher)
        near.watchesWrite = true
        #expect(far.send("x") == .bytes(1))
        loop.turn()
        loop.turn(waiting: false)
        #expect(watcher.reported.filter { $0 == "readable" } == ["readable"])
        #expect(watcher.reported.last == "readable")
    }
}

/// Puts itself off a number of times.
private final class Work: EndOfTurn {
    private let loop: EventLoop
    private var again: Int
    private(set) var done = 0

    init(_ loop: EventLoop, again: Int) {
        self.loop = loop
        self.again = again
    }

    func endOfTurn() {
        done += 1
        guard again > 0 else { return }
        again -= 1
        loop.atEndOfTurn(self)
    }
}

/// What has happened, in order.
private final class Names {
    var all: [String] = []
}
