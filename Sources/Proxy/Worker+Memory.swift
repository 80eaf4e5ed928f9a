internal import Bytes
internal import Documents
internal import Events
internal import HTTP
internal import Telemetry
package import Time

/// What a worker does when the process holds more for calls or connections than `limits.memory` allows.
extension Worker {
    /// How long a worker waits after it has asked for relief before it asks again.
    private static let pause = 20 * Duration.millisecond

    /// Counts what is held, and calls `relieve` when that is too much.
    func meterMemory(relieve: @escaping () -> Void) {
        reclaimMemory()
        let memory = context.memory
        // Relief may have ended before more was held again, and then nothing more may move that would tell of it.
        let pause = Timer(on: context.loop.timers) { if memory.isExhausted { relieve() } }
        let relieveSeldom = {
            guard memory.isExhausted, !pause.isArmed else { return }
            pause.arm(after: Self.pause)
            relieve()
        }
        context.reclaimer?.relieve = relieveSeldom
        context.meter.changed = { count in
            memory.add(count)
            relieveSeldom()
        }
    }

    /// Has idle connections close if connections hold too much.
    private func reclaimMemory() {
        guard let reclaimer = context.reclaimer else { return }
        reclaimer.acceptors = { [unowned self] in allAcceptors }
        reclaimer.closeIdleUpstream = { [unowned self] in openUpstreams.contains { $0.closeIdle() } }
        reclaimer.onClose = { [unowned self] in closedForMemory($0) }
        reclaimer.onEnd = { [unowned self] in endedForMemory($0, calls: $1) }
        context.http2.meter.changed = { [memory = context.memory, unowned reclaimer] count in
            memory.addConnections(count)
            if count > 0 { reclaimer.checkSoon() }
        }
    }

    /// Closes idle connections for those of another worker.
    package func makeRoomForConnections() {
        context.reclaimer?.makeRoom()
    }

    /// Closes idle connections while connections should release memory.
    package func closeIdleForMemory() {
        context.reclaimer?.checkSoon()
    }

    private func closedForMemory(_ count: Int) {
        logLimiter.note(
            "limits.memory is reached; closing the connections that are idle longest",
            about: "",
            [
                ("closed", "\(count)"),
                ("held", "\(context.memory.connections)"),
                ("limit", "\(context.memory.connectionLimit)"),
            ]
        )
    }

    private func endedForMemory(_ count: Int, calls: Int) {
        for _ in 0..<calls { counters.limitHit(.memory) }
        logLimiter.note(
            "limits.memory is reached; ending the largest connections with calls",
            about: "",
            [
                ("connections", "\(count)"),
                ("calls", "\(calls)"),
                ("held", "\(context.memory.connections)"),
                ("limit", "\(context.memory.connectionLimit)"),
            ]
        )
    }

    /// Reports that a connection was rejected because of memory, and no other could be closed.
    func rejectedForMemory(listener: String) {
        counters.limitHit(.memory)
        logLimiter.note(
            "limits.memory is reached, and no connection is idle; rejecting callers",
            about: "",
            [
                ("held", "\(context.memory.connections)"),
                ("limit", "\(context.memory.connectionLimit)"),
                ("listener", listener),
            ]
        )
    }

    /// Reads JSON of a peer, which counts for `limits.memory` as long as it is held.
    ///
    /// - Throws: An error for what is not JSON, or takes too much memory.
    func parsed(_ json: Span<UInt8>) throws(JSONError) -> JSONValue {
        do throws(JSONError) {
            return try JSON.parse(json, meter: context.meter, room: context.memory.messageRoom)
        } catch {
            if error.isTooLarge { counters.limitHit(.memory) }
            throw error
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
                ("limit", "\(context.memory.callLimit)"),
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
