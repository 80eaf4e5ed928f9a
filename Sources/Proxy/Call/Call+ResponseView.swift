public import HTTP
public import RPC

/// What interceptors see of the response of a call.
extension Call {
    /// The code of the response, where that was made here.
    public var ownCode: RPCCode? { ownOutcome?.code }

    /// Whether the response is an error that was made here.
    public var hasOwnError: Bool { ownOutcome?.isError == true }

    /// The outcome of the response, where that was made here.
    var ownOutcome: Outcome? { response.ownOutcome }

    /// The head of the response, while that waits for what follows.
    public var heldHead: HTTPHead? { response.hold.head }

    /// Whether the body of the response is one thing, or there is none.
    public var responseHasOneBody: Bool { flows.response.form?.isWhole == true || response.isHeadLast }

    /// The trailers of the response, once they are known.
    public var responseTrailers: HTTPHead? { flows.response.trailers }

    /// The interceptor whose hook was called last evaluates the response; false if it has done so, as at the head of a
    /// response whose end says the same.
    public func markEvaluated() -> Bool { run.markEvaluated() }
}
