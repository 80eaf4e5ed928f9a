internal import Configuration
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry
package import Time

/// The stalled calls of a worker: their number, and their end where others need their connections.
extension Worker {
    /// Ends stalled calls that hold connections others wait for.
    ///
    /// - Returns: the time since when the first of the calls stalls that are left with connections; `.max` if none does.
    func makeRoom(_ request: RoomRequest) -> Instant {
        let now = context.loop.now
        var holders: [RoomRequest.Holder] = []
        var held: [RoomRequest.Owner: Int] = [:]
        forEachCall { call in
            guard let attempt = call.upstreamLeg.attempt, request.holdsConnection(attempt) else { return }
            let owner = RoomRequest.Owner(of: call.peer)
            held[owner, default: 0] += 1
            guard let stall = call.stall(at: now) else { return }
            holders.append(RoomRequest.Holder(call: call, owner: owner, stall: stall))
        }
        let (ended, preferred) = request.choice(among: holders, held: held, at: now)
        let isEnded = Set(ended.map { ObjectIdentifier($0) })
        let left = holders.filter { $0.stall.reason != .silence && !isEnded.contains(ObjectIdentifier($0.call)) }
        let first = left.reduce(.max) { min($0, $1.stall.since) }
        guard !ended.isEmpty else { return first }
        request.serveFirst(preferred)
        let name = request.upstream.settings.name
        let text = "upstream \(name): limits.connections is reached, and the call has stalled"
        var count = 0
        for call in ended where !call.isOver {
            count += 1
            counters.limitHit(.upstreamConnections)
            call.fail(RPCError(.resourceExhausted, text, httpStatus: 503), by: .martlet)
        }
        logLimiter.note(
            "limits.connections of an upstream is reached; ending stalled calls",
            about: name,
            [("upstream", name), ("calls", "\(count)"), ("waiting", "\(request.waiting.count)")]
        )
        return first
    }

    /// The number of calls that have stalled for a second, and the longest time.
    package var stalledCalls: (count: Int, longest: Duration) {
        let now = context.loop.now
        var stalled = (count: 0, longest: Duration.zero)
        forEachCall { call in
            guard let stall = call.stall(at: now), stall.reason != .silence, now - stall.since >= .second else {
                return
            }
            stalled = (stalled.count + 1, max(stalled.longest, now - stall.since))
        }
        return stalled
    }
}
