public import HTTP
public import RPC

/// How an answer ends: its code, the error if it is one, and the trailers.
///
/// Belongs to the worker's thread; good until the hook returns, or, if that suspends, until the suspension is resumed.
public final class ResponseEnd {
    /// The error, or nil if the call has succeeded; what is set is told in the caller's dialect.
    ///
    /// When messages have gone out already, they stay, and the error ends them. In plain HTTP, and in unary Connect over
    /// an answer whose head has gone out, it can only break the answer off.
    public var error: RPCError? {
        didSet { isChanged = true }
    }
    /// The trailers: HTTP's, those in the last frame of gRPC-Web and of Connect streams, or the `trailer-` headers of
    /// unary Connect without that prefix.
    ///
    /// Fields of the protocols may be among them and are not to be touched.
    public let trailers: HTTPHead
    /// Whether the error is another than the one that has come.
    private(set) var isChanged = false

    /// The outcome.
    public var code: RPCCode { error?.code ?? .ok }

    init(_ error: RPCError?, trailers: HTTPHead) {
        self.error = error
        self.trailers = trailers
    }
}
