import Bytes
import Documents
import Events
import HTTP
import Testing
import Time

@testable import Proxy

/// A worker keeps for further calls what they need, and nothing else.
@Suite struct WorkerMemoryTests {
    private let worker = Worker(loop: EventLoop(), lineWriters: nil, network: SystemNetwork())

    /// What a call takes of its worker and gives back, as far as it is still there.
    private struct Remains {
        weak var head: HTTPHead?
        weak var queue: ByteQueue?
        weak var trace: DecisionTrace?

        var count: Int { [head == nil, queue == nil, trace == nil].count { !$0 } }
    }

    private func used() -> Remains {
        let (head, queue, trace) = (worker.acquireHead(), worker.acquireQueue(), worker.acquireTrace())
        let remains = Remains(head: head, queue: queue, trace: trace)
        worker.release(head)
        worker.release(queue)
        worker.release(trace)
        return remains
    }

    private func fillBuffer() {
        let queue = ByteQueue(pool: worker.context.buffers)
        queue.append(byte: 1)
        queue.drop(1)
    }

    @Test func `what no call needs from one trim to the next goes`() {
        let remains = used()
        fillBuffer()
        worker.trim()
        #expect(remains.count == 3)
        #expect(worker.context.buffers.freeCount == 1)
        worker.trim()
        #expect(remains.count == 0)
        #expect(worker.context.buffers.freeCount == 0)
    }

    @Test func `what a call has needed meanwhile stays`() {
        let remains = used()
        worker.trim()
        _ = used()
        worker.trim()
        #expect(remains.count == 3)
    }

    @Test func `a worker asks for relief once in a while, and however briefly too much is held for the last time`() {
        let clock = ManualClock(now: .start + .second)
        let loop = EventLoop(clock: .manual(clock))
        var asked = 0
        let worker = Worker(
            loop: loop,
            lineWriters: nil,
            memory: MemoryBudget(limit: 100_000),
            network: SystemNetwork(),
            relieveMemory: { asked += 1 }
        )
        func pass(_ time: Duration) {
            clock.now += time
            loop.turn(waiting: false)
        }
        let meter = worker.context.meter
        pass(.millisecond)
        meter.add(200_000)
        #expect(asked == 1)
        meter.add(-200_000)
        pass(5 * .millisecond)
        meter.add(200_000)
        #expect(asked == 1)
        pass(40 * .millisecond)
        #expect(asked == 2)
        pass(.second)
        #expect(asked == 2)
        meter.add(-200_000)
        pass(.second)
        #expect(asked == 2)
    }

    @Test func `JSON that takes more memory than there is counts as a hit of the limit`() {
        let budget = MemoryBudget(limit: 1 << 20)
        let harness = ProxyHarness(.memory, plain, memory: budget)
        let json = Array("[\(String(repeating: "1,", count: 100_000))1]".utf8)
        func hits() -> Bool {
            budget.add(budget.callLimit)
            #expect(throws: JSONError.self) { _ = try harness.worker.parsed(json.span) }
            budget.add(-budget.callLimit)
            return harness.metrics("martlet_limit_hits_total{limit=\"memory\"}").first?.hasSuffix(" 1") == true
        }
        #expect(hits())
        harness.finish()
    }
}
