internal import Bytes
internal import Events
internal import RPC
internal import Telemetry

/// The calls that ended last on a worker, for people: those that failed, and a sample of the others.
///
/// Each is kept as the line of JSON that the access log would have, with its decision trace.
final class RecentCalls {
    /// So many are kept.
    static let most = 64
    /// So many calls are taken in a second, that a storm of them costs little: of those that failed, and of the others.
    static let mostPerSecond = (failed: 100, others: 5)

    private var lines: [(time: Nanoseconds, text: [UInt8])] = []
    private var next = 0
    private let formatter = TimestampFormatter()
    private let queue = ByteQueue()
    private var second: Nanoseconds = 0
    private var taken = 0

    /// Takes a call that is over, if it is one to be kept.
    func note(_ call: Call) {
        let now = call.record.stages.ended
        if now - second >= .second { (second, taken) = (now, 0) }
        let most = call.record.code == .ok ? Self.mostPerSecond.others : Self.mostPerSecond.failed
        guard taken < most else { return }
        taken += 1
        let line = (Clock.wall, describe(call))
        if lines.count < Self.most { lines.append(line) } else { lines[next] = line }
        next = (next + 1) % Self.most
    }

    private func describe(_ call: Call) -> [UInt8] {
        let now = Clock.wall
        var line = AccessLogLine(
            to: queue,
            seconds: Int(now / .second),
            nanoseconds: Int(now % .second),
            formatter: formatter
        )
        let id = ByteQueue()
        call.appendID(to: id)
        line.field("call", text: id.readable)
        line.describe(call)
        if call.record.code == .ok { line.writeTrace(call) }
        line.end()
        let lines = queue
        let text = lines.readable.array
        lines.removeAll()
        return text
    }

    /// What is kept: the wall time in nanoseconds at which each ended, and its line.
    var all: [(time: Nanoseconds, text: [UInt8])] { lines }
}
