import Testing

@testable import Sidecar

@Suite struct ReloadQueueTests {
    private final class Told {
        var names: [String] = []
    }

    private let told = Told()

    private func waiter(_ name: String) -> Daemon.ReloadCompletion {
        { [told] _ in told.names.append(name) }
    }

    private func finish(_ waiting: [Daemon.ReloadCompletion]) {
        for then in waiting { then(.success(1)) }
    }

    @Test func `one reload after the other: who asks meanwhile waits for one more`() {
        var queue = ReloadQueue()
        let isBehindNone = queue.waitBehind(waiter("early"))
        #expect(!isBehindNone)
        queue.begin()
        queue.wait(waiter("first"))
        let areBehind = [queue.waitBehind(waiter("second")), queue.waitBehind(waiter("third"))]
        #expect(areBehind == [true, true])
        queue.succeed()?(.success(1))
        #expect(told.names == ["first"])
        finish(queue.end())
        #expect(told.names == ["first", "second", "third"])
        let isBehindNoneAgain = queue.waitBehind(waiter("late"))
        #expect(!isBehindNoneAgain)
    }

    @Test func `a worker that is stuck lets all go, and those that ask later still wait for it`() {
        var queue = ReloadQueue()
        let none = queue.abandon()
        #expect(none.isEmpty)
        queue.begin()
        queue.wait(waiter("first"))
        _ = queue.waitBehind(waiter("second"))
        finish(queue.abandon())
        #expect(told.names == ["first", "second"])
        let isBehind = queue.waitBehind(waiter("third"))
        #expect(isBehind)
        let isToldTwice = queue.succeed() != nil
        #expect(!isToldTwice)
    }

    @Test func `a change of the file while a worker is stuck is for later, once`() {
        var queue = ReloadQueue()
        queue.note(isDue: true)
        let due = [queue.takeDue(), queue.takeDue()]
        #expect(due == [true, false])
    }
}
