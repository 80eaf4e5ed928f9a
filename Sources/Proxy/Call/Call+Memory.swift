internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
package import Time

/// What a call holds, and how it ends when that memory is needed.
extension Call {
    /// What a call takes beside the bytes that it holds: itself, its streams, its heads.
    static let size = 4096

    /// The error of a call that ends because `limits.memory` is reached.
    static let shortage = RPCError(
        .resourceExhausted,
        "Martlet has reached its memory limit (limits.memory)",
        httpStatus: 503
    )

    /// Rejects the call before it has begun, since others hold all the memory that calls may hold.
    func rejectForMemory() {
        worker.counters.limitHit(.memory)
        worker.context.reclaimer?.checkSoon()
        worker.logLimiter.note(
            "limits.memory is reached; rejecting new calls",
            about: "",
            [
                ("held", "\(worker.context.memory.used)"),
                ("limit", "\(worker.context.memory.callLimit)"),
            ]
        )
        fail(Self.shortage, by: .martlet)
    }

    /// How long interceptors and connections may take: so much later than a peer, a call that waits for one is stalled.
    static let usualWait = Duration.second

    package var heldBytes: Int {
        let queues = [upstreamLeg.outbox, upstreamLeg.retryBuffer.body, upstreamLeg.query, response.hold.body]
        let spool = upstreamLeg.retryBuffer.spool == nil ? 0 : Spool.memory
        let flowing = flows.request.heldBytes + flows.response.heldBytes + upstreamLeg.heldBytes + spool
        let rest = response.rest?.range.count ?? 0
        return queues.reduce(Self.size + flowing + rest) { $0 + ($1?.capacity ?? 0) }
    }

    package var waitsSince: Instant {
        let peers = min(upstreamLeg.attempt?.waitsSince ?? .max, flows.request.pieceWaitsSince, responseWaitsSince)
        let martlet = min(flows.request.queues.waitsSince, flows.response.queues.waitsSince, connectingSince)
        return min(peers, martlet == .max ? .max : martlet + Self.usualWait)
    }

    /// Since when there is no connection for what has left the chain.
    var connectingSince: Instant {
        let isConnecting =
            upstreamLeg.isForwarded && acceptsRequest && !upstreamLeg.isConnected
        return isConnecting ? ledger.since : .max
    }

    /// Since when a part of the response waits for the rest of it.
    private var responseWaitsSince: Instant {
        response.hold.body == nil ? flows.response.pieceWaitsSince : flows.response.pieceCame
    }

    package func releaseSpares() {
        // Before that, what is kept for a retry is what the next one sends.
        if upstreamLeg.retryBuffer.body != nil, upstreamLeg.attempt?.isConnected == true { discardRetryBuffer(.buffer) }
    }

    package func shed() {
        guard !isOver else { return }
        guard response.headSent, response.settled == nil else { return fail(Self.shortage, by: .martlet) }
        record.message = Array(Self.shortage.message.utf8)
        callerLeg.stream.reset(.code(.enhanceYourCalm))
        finish(code: .resourceExhausted, by: .martlet)
    }
}
