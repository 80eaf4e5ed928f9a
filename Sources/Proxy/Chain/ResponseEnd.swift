internal import Bytes
public import HTTP
internal import Protocols
public import RPC

/// How a response ends: its code, the error if it is one, and the trailers.
///
/// Belongs to the worker's thread; good until the hook returns, or, if that suspends, until the suspension is resumed.
public final class ResponseEnd {
    /// The trailers: HTTP's, those in the last frame of gRPC-Web and of Connect streams, or the `trailer-` headers of
    /// unary Connect without that prefix.
    ///
    /// Fields of the protocols may be among them and are not to be touched.
    public let trailers: HTTPHead
    /// What interceptors ask for that are to see it, as it has come.
    private let arrived: EventSet
    /// Whether the metadata of an error is among the trailers; if not, it is among the headers.
    private let hasMetadata: Bool
    /// Whether the response is broken off here: what has come of it is not all.
    public let breaksOff: Bool
    /// Whether the error is another than the one that has come.
    public private(set) var isReplaced = false
    private var outcome: Outcome
    private var stored: RPCError?
    /// Whether a hook has set the error since this was asked last.
    private(set) var isNewlyReplaced = false

    /// The end of a response as it has come.
    init(_ outcome: Outcome, trailers: HTTPHead, asked: EventSet, _ rpcProtocol: RPCProtocol) {
        self.outcome = outcome
        self.trailers = trailers
        arrived = asked
        hasMetadata = rpcProtocol.hasEnvelopes
        breaksOff = false
    }

    /// The end of a response that is broken off with an error.
    init(failing error: RPCError, trailers: HTTPHead, _ rpcProtocol: RPCProtocol) {
        outcome = Outcome(error)
        self.trailers = trailers
        arrived = [.anyEnd, .responseBytes]
        hasMetadata = rpcProtocol.hasEnvelopes
        breaksOff = true
        isReplaced = true
        store(error)
    }

    /// What interceptors ask for that are to see it, as it is now: an error that one of them has made is one to all that
    /// follow.
    var asked: EventSet {
        isReplaced && code != .ok && !arrived.isEmpty ? arrived.union(.responseErrors) : arrived
    }

    /// The outcome.
    public var code: RPCCode { outcome.code }

    /// The error, or nil if the call has succeeded; what is set is told in the caller's protocol.
    ///
    /// When messages have gone out already, they stay, and the error ends them. In plain HTTP, and in unary Connect over
    /// a response whose head has gone out, it can only break the response off. Fields of metadata that came with the error are
    /// among the trailers.
    public var error: RPCError? {
        get {
            if stored == nil { stored = outcome.error(trailers: trailers) }
            return stored
        }
        set {
            let error = newValue?.code == .ok ? nil : newValue
            outcome = Outcome(error)
            store(error)
            isReplaced = true
            isNewlyReplaced = true
        }
    }

    /// Keeps an error, and its metadata where that stays whatever becomes of the error: among the trailers, if it can.
    private func store(_ error: RPCError?) {
        stored = error
        guard hasMetadata, let error, !error.metadata.isEmpty else { return }
        for (name, value) in error.metadata {
            trailers.add(name: Array(name.utf8).span, value: Array(value.utf8).span)
        }
        stored?.metadata = []
    }

    /// Whether a hook has set the error since this was asked last.
    func clearReplaced() -> Bool {
        defer { isNewlyReplaced = false }
        return isNewlyReplaced
    }

    /// What the record says.
    var result: Outcome { outcome }
}
