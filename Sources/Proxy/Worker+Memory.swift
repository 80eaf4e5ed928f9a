internal import Bytes
internal import Events
internal import Telemetry
package import Time

/// What a worker does when the process holds more for calls than `limits.memory`.
extension Worker {
    /// How long a worker waits after it has asked for relief before it asks again.
    private static let pause = 20 * Duration.millisecond

    /// Counts what is held, and calls `relieve` when that is too much.
    func meterMemory(relieve: @escaping () -> Void) {
        let memory = context.memory
        // Relief may have ended before more was held again, and then nothing more may move that would tell of it.
        let pause = Timer(on: context.loop.timers) { if memory.isExhausted { relieve() } }
        context.meter.changed = { count in
            memory.add(count)
            guard memory.isExhausted, !pause.isArmed else { return }
            pause.arm(after: Self.pause)
            relieve()
        }
    }

    /// What the calls and connections hold that have been stalled for at least `patience`.
    package func stalledMemory(for patience: Duration) -> [StalledMemory] {
        stalled(for: patience).map(\.memory)
    }

    /// Has all calls release what they keep only for the case that something goes wrong.
    package func releaseSpares() {
        for acceptor in allAcceptors { acceptor.releaseSpares() }
    }

    /// Ends the `count` largest of the calls and connections that have been stalled for at least `patience`.
    package func shedStalled(_ count: Int, for patience: Duration) {
        let shed = stalled(for: patience).sorted { $0.memory.bytes > $1.memory.bytes }.prefix(count)
        guard !shed.isEmpty else { return }
        let (held, bytes) = (context.memory.used, shed.reduce(0) { $0 + $1.memory.bytes })
        let calls = shed.reduce(0) { $0 + $1.shed() }
        for _ in 0..<calls { counters.limitHit(.memory) }
        logLimiter.note(
            "limits.memory is reached; ending the largest stalled calls",
            about: "",
            [
                ("calls", "\(calls)"),
                ("bytes", "\(bytes)"),
                ("held", "\(held)"),
                ("limit", "\(context.memory.limit)"),
            ]
        )
    }

    private func stalled(for patience: Duration) -> [StalledCall] {
        let now = context.loop.clock.now
        return allAcceptors.flatMap { $0.stalled(for: patience, at: now) }
    }

    /// The acceptors of listeners that are open, and of those that only end their connections.
    var allAcceptors: [Acceptor] { acceptors.values.map(\.acceptor) + draining }
}
