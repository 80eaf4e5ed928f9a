internal import Bytes
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// What a call holds, and how it ends when that memory is needed.
extension Call {
    /// What a call takes beside the bytes that it holds: itself, its streams, its heads.
    static let size = 4096

    private static let shortage = RPCError(
        .resourceExhausted,
        "martlet is short of memory: calls hold all that limits.memory allows",
        httpStatus: 503
    )

    /// Rejects the call before it has begun, since others hold all the memory that calls may hold.
    func rejectForMemory() {
        worker.counters.limitHit(.memory)
        worker.notices.note(
            "short of memory (limits.memory); rejecting new calls",
            about: "",
            ("held", "\(worker.context.memory.used)"),
            ("limit", "\(worker.context.memory.limit)")
        )
        fail(Self.shortage, by: .martlet)
    }

    package var heldBytes: Int {
        let queues = [outbox, replay, requestQuery, heldBody, bareMessage, requestRest?.bytes, answerRest?.bytes]
        let waiting = lanes.request.bytes + lanes.response.bytes + (attempt?.heldBytes ?? 0)
        return queues.reduce(waiting) { $0 + ($1?.count ?? 0) }
    }

    package func isStalled(since time: Int64) -> Bool {
        if let attempt, attempt.isConnected { return attempt.isStalled(since: time) }
        // It waits for a connection or for an interceptor.
        return record.stages.arrived < time
    }

    package func shed() {
        guard !isOver else { return }
        guard headSent else { return fail(Self.shortage, by: .martlet) }
        record.message = Array(Self.shortage.message.utf8)
        caller.reset(.code(.enhanceYourCalm))
        finish(code: .resourceExhausted, by: .martlet)
    }
}
