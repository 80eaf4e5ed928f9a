public import HTTP
public import RPC

/// How an answer ends: its code, the error if it is one, and the trailers.
///
/// Belongs to the worker's thread; good until the hook returns, or, if that suspends, until the suspension is resumed.
public final class ResponseEnd {
    /// The trailers: HTTP's, those in the last frame of gRPC-Web and of Connect streams, or the `trailer-` headers of
    /// unary Connect without that prefix.
    ///
    /// Fields of the protocols may be among them and are not to be touched.
    public let trailers: HTTPHead
    /// What interceptors ask for that are to see it.
    let asked: EventSet
    /// Whether the error is another than the one that has come.
    private(set) var isReplaced = false
    private var outcome: Outcome
    private var stored: RPCError?
    /// Whether a hook has set the error since this was asked last.
    private(set) var isNewlyReplaced = false

    /// The end of an answer as it has come.
    init(_ outcome: Outcome, trailers: HTTPHead, asked: EventSet) {
        self.outcome = outcome
        self.trailers = trailers
        self.asked = asked
    }

    /// The end of an answer that is broken off with an error.
    init(failing error: RPCError, trailers: HTTPHead) {
        outcome = Outcome(error)
        self.trailers = trailers
        asked = .anyEnd
        isReplaced = true
    }

    /// The outcome.
    public var code: RPCCode { outcome.code }

    /// The error, or nil if the call has succeeded; what is set is told in the caller's dialect.
    ///
    /// When messages have gone out already, they stay, and the error ends them. In plain HTTP, and in unary Connect over
    /// an answer whose head has gone out, it can only break the answer off. Fields of metadata that came with the error are
    /// among the trailers.
    public var error: RPCError? {
        get {
            if stored == nil { stored = outcome.error(trailers: trailers) }
            return stored
        }
        set {
            stored = newValue?.code == .ok ? nil : newValue
            outcome = Outcome(stored)
            isReplaced = true
            isNewlyReplaced = true
        }
    }

    /// Whether a hook has set the error since this was asked last.
    func takeReplaced() -> Bool {
        defer { isNewlyReplaced = false }
        return isNewlyReplaced
    }

    /// What the record says.
    var result: Outcome { outcome }
}
