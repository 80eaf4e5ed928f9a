internal import Bytes
internal import Events
internal import Telemetry

/// What a worker does when the process holds more for calls than `limits.memory`.
extension Worker {
    /// How often the others are asked for memory.
    private static let pause = 20 * Nanoseconds.millisecond

    /// Counts what is held, and calls `relieve` when that is too much.
    func meterMemory(relieve: @escaping () -> Void) {
        let (memory, loop) = (context.memory, context.loop)
        var restUntil = Nanoseconds.min
        context.meter.changed = { count in
            memory.add(count)
            guard memory.isExhausted, loop.now >= restUntil else { return }
            restUntil = loop.now + Self.pause
            relieve()
        }
    }

    /// What each stalled call holds, in bytes.
    package var stalledBytes: [Int] { stalledCalls.map(\.bytes) }

    /// Ends the stalled calls that hold at least so many bytes.
    package func shedStalled(holding bytes: Int) {
        let shed = stalledCalls.filter { $0.bytes >= bytes }
        guard !shed.isEmpty else { return }
        notices.note(
            "short of memory (limits.memory); ending the stalled calls that hold most",
            about: "",
            ("calls", "\(shed.count)"),
            ("bytes", "\(shed.reduce(0) { $0 + $1.bytes })"),
            ("held", "\(context.memory.used)"),
            ("limit", "\(context.memory.limit)")
        )
        for call in shed {
            counters.limitHit(.memory)
            call.shed()
        }
    }

    private var stalledCalls: [StalledCall] {
        let time = context.loop.clock.now - context.memory.patience
        return (acceptors.values.map(\.acceptor) + draining).flatMap { $0.stalledCalls(since: time) }
    }
}
