package import HTTP
internal import Protocols
package import RPC
package import Telemetry
package import Time

/// What the kinds that come with Martlet see of a call beyond what all interceptors do.
extension Call {
    /// The upstream that the call goes to; nil if its chain has to respond.
    package var upstream: Upstream? { route.upstream }

    /// The code of the response, where that was made here.
    package var ownCode: RPCCode? { ownOutcome?.code }

    /// Whether the response is an error that was made here.
    package var hasOwnError: Bool { ownOutcome?.isError == true }

    /// The head of the response, while that waits for what follows.
    package var heldHead: HTTPHead? { response.hold.head }

    /// Whether the body of the response is one thing, or there is none.
    package var responseHasOneBody: Bool { flows.response.form?.isWhole == true || response.isHeadLast }

    /// The trailers of the response, once they are known.
    package var responseTrailers: HTTPHead? { flows.response.trailers }

    /// The link whose hook was called last evaluates the response; false if it has done so, as at the head of a response whose
    /// end says the same.
    package func markEvaluated() -> Bool { run.markEvaluated() }

    /// What is kept out of all that is shown of the call.
    package var redactions: Redactions { run.chain.redactions }

    /// How long an event may wait; nil is without end.
    package var suspensionTimeout: Duration? { callerLeg.listener.suspensionTimeout }

    /// What the call is counted under.
    package var routeCounter: RouteCounter { generation.counter(ofRoute: routeNumber) }

    /// The time from when it was forwarded to its end, or nil if it was not; good in `finished`.
    package var upstreamDuration: Duration? {
        record.stages.forwarded > .start ? record.stages.ended - record.stages.forwarded : nil
    }
}
