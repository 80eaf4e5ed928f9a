internal import RPC
internal import Telemetry

/// Calls that are served in this process.
extension Call {
    /// An interceptor has the call served: none behind it sees the call.
    ///
    /// - Returns: whether the call goes on.
    func serve(
        by upstream: LocalUpstream,
        _ opening: @escaping LocalUpstream.Opening,
        at index: Int,
        _ event: ChainEvent
    ) -> Bool {
        guard case .requestHead = event else {
            let problem = "an interceptor tried to have a call served whose head had gone on"
            fail(RPCError(.internal, problem), by: .martlet)
            return false
        }
        run.end(at: index)
        decides(index, .respond)
        upstreamLeg.service = opening
        upstreamLeg.isServedRaw = !upstream.translates
        let upstream = upstream.upstream
        let isRehearsal = if case .rehearsal = route.destination { true } else { false }
        route = Route(chain: route.chain, destination: isRehearsal ? .rehearsal(upstream) : .upstream(upstream))
        return true
    }
}
