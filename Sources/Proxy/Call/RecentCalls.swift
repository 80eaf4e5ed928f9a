internal import Bytes
internal import Events
internal import RPC
internal import Telemetry
internal import Time

/// The calls that ended last on a worker, for people: those that failed, and a sample of the others.
///
/// Each is kept as the line of JSON that the access log would have, with its decision trace.
final class RecentCalls {
    private var failed = Ring(maxCount: 64, maxPerSecond: 100)
    private var others = Ring(maxCount: 16, maxPerSecond: 5)
    /// Those that a tap has shown.
    private var tapped = Ring(maxCount: 64, maxPerSecond: 100)
    private let formatter = TimestampFormatter()
    private let queue = ByteQueue()
    /// Whether every call is kept, as the last one at least.
    var keepsAll = false
    /// The line of the last call, if all are kept.
    private(set) var last: [UInt8] = []
    /// Hands each line that is kept to those who follow.
    let publisher = Publisher()

    /// Takes a call that is over, if it is one to be kept.
    func note(_ call: Call) {
        if keepsAll { last = describe(call) }
        let now = call.record.stages.ended
        let kept =
            if call.record.code != .ok {
                failed.add(at: now) { keep(call) }
            } else if call.tap?.isShown == true {
                tapped.add(at: now) { keep(call) }
            } else {
                others.add(at: now) { keep(call) }
            }
        if let kept { publisher.publish(kept.text) }
    }

    private func keep(_ call: Call) -> KeptCall {
        let id = ByteQueue()
        call.appendID(to: id)
        return KeptCall(
            time: call.worker.context.loop.clock.wall,
            id: id.readable.array,
            text: describe(call),
            // What went well is told of often, and repeated rarely.
            caller: call.record.code != .ok || call.tap != nil ? call.callerCopy : nil,
            upstream: call.upstreamCopy
        )
    }

    /// Hands over the lines that are kept, oldest first, and from now on each new one.
    func subscribe(_ handover: LineHandover) {
        for line in all.sorted(by: { $0.time < $1.time }) { handover.append(line.text) }
        publisher.add(handover)
    }

    private func describe(_ call: Call) -> [UInt8] {
        var line = AccessLogLine(about: call, to: queue, formatter: formatter)
        line.describe(call)
        if !call.logsTrace { line.writeTrace(call) }
        line.end()
        let lines = queue
        let text = lines.readable.array
        lines.removeAll()
        return text
    }

    /// What is kept, in no order.
    var all: [KeptCall] { failed.calls + others.calls + tapped.calls }

    /// The last of some calls, and not so many in a second that a storm of calls costs much.
    private struct Ring {
        let maxCount: Int
        let maxPerSecond: Int
        private(set) var calls: [KeptCall] = []
        private var next = 0
        private var second = Instant.start
        private var taken = 0

        init(maxCount: Int, maxPerSecond: Int) {
            self.maxCount = maxCount
            self.maxPerSecond = maxPerSecond
        }

        /// Adds a call at this monotonic time, and returns it; nil if there were too many in this second.
        mutating func add(at now: Instant, _ make: () -> KeptCall) -> KeptCall? {
            if now - second >= .second { (second, taken) = (now, 0) }
            guard taken < maxPerSecond else { return nil }
            taken += 1
            let call = make()
            if calls.count < maxCount { calls.append(call) } else { calls[next] = call }
            next = (next + 1) % maxCount
            return call
        }
    }
}
