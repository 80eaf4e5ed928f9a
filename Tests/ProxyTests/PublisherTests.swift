import Events
import Telemetry
import Testing
import Time

@testable import Proxy

/// What workers hand to those who follow on other threads.
@Suite struct PublisherTests {
    private static func items(_ handover: LineHandover) -> [LineBuffer.Item] {
        var buffer = handover.removeAll()
        var items: [LineBuffer.Item] = []
        while let item = buffer.removeFirst() { items.append(item) }
        return items
    }

    @Test func `lines go to all who subscribe, and to nobody after the end`() {
        let publisher = Publisher()
        let (first, second) = (LineHandover {}, LineHandover {})
        publisher.publish([0])
        #expect(publisher.isIdle)
        publisher.add(first)
        publisher.publish([1])
        publisher.add(second)
        publisher.publish([2])
        publisher.remove(first)
        publisher.publish([3])
        publisher.remove(second)
        publisher.remove(second)
        publisher.publish([4])
        #expect(publisher.isIdle)
        #expect(Self.items(first) == [.line([1]), .line([2])])
        #expect(Self.items(second) == [.line([2]), .line([3])])
    }

    @Test func `a subscriber is woken once until it reads, and a stuck one holds bounded memory`() {
        let wakes = Wakes()
        let handover = LineHandover { wakes.count += 1 }
        let line = [UInt8](repeating: 1, count: 1000)
        for _ in 0..<10_000 { handover.append(line) }
        #expect(wakes.count == 1)
        let items = Self.items(handover)
        let kept = items.count - 1
        #expect(kept == LineHandover.maxBytes / (1000 + LineBuffer.overhead))
        #expect(items.last == .lost(10_000 - kept))
        handover.append(line)
        #expect(wakes.count == 2)
        #expect(Self.items(handover) == [.line(line)])
    }

    @Test func `recent calls can be followed, and those that are kept come first`() {
        runProxy(plain + "\ninterceptors: [{when: {path: /no}, reject: {code: aborted}}]\n") { harness in
            let handover = LineHandover {}
            let caller = harness.caller()
            func reject() {
                caller.send(http("GET /no HTTP/1.1", "host: a"))
                _ = caller.head()
                harness.clock.now += .milliseconds(20)
            }
            reject()
            #expect(harness.worker.recent.publisher.isIdle)
            harness.worker.subscribe(handover, to: .recentCalls)
            reject()
            let texts = Self.items(handover)
            #expect(texts == harness.worker.recent.all.map { .line($0.text) })
            #expect(texts.count == 2)
            harness.worker.unsubscribe(handover, from: .recentCalls)
            reject()
            #expect(Self.items(handover).isEmpty)
            #expect(harness.worker.recent.publisher.isIdle)
        }
    }
}

private final class Wakes: @unchecked Sendable {
    var count = 0
}
