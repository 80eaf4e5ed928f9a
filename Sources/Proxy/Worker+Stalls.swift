internal import Configuration
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry
package import Time

/// What stalled calls hold that others need, and how many there are.
extension Worker {
    /// Ends stalled calls that hold connections others wait for.
    ///
    /// - Returns: the time since when the first of the calls stalls that are left with connections; `.max` if none does.
    func makeRoom(_ request: RoomRequest) -> Instant {
        let now = context.loop.now
        var holders: [RoomRequest.Holder] = []
        var held: [RoomRequest.Owner: Int] = [:]
        forEachCall { call in
            guard let attempt = call.upstreamLeg.attempt, attempt.upstream === request.upstream,
                attempt.holdsConnection(request.version)
            else { return }
            let owner = RoomRequest.Owner(of: call.peer)
            held[owner, default: 0] += 1
            guard let stall = call.stall(at: now) else { return }
            holders.append(RoomRequest.Holder(call: call, owner: owner, stall: stall))
        }
        let (ended, preferred) = request.choice(among: holders, held: held, at: now)
        let left = holders.filter { holder in !ended.contains { $0 === holder.call } && holder.stall.reason != .silence
        }
        let first = left.reduce(.max) { min($0, $1.stall.since) }
        guard !ended.isEmpty else { return first }
        request.putFirst(preferred)
        let name = request.upstream.settings.name
        let text = "upstream \(name): limits.connections is reached, and the call has stalled"
        for call in ended where !call.isOver {
            counters.limitHit(.upstreamConnections)
            call.fail(RPCError(.resourceExhausted, text, httpStatus: 503), by: .martlet)
        }
        logLimiter.note(
            "limits.connections of an upstream is reached; ending stalled calls",
            about: name,
            [("upstream", name), ("calls", "\(ended.count)"), ("waiting", "\(request.waiting.count)")]
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
