public import RPC

/// A protocol as it is spoken with a caller: how its requests are read, and how it is told the outcome.
///
/// A type of its own, so that nobody tells a caller an outcome in the protocol of the upstream.
public struct CallerSide: Sendable {
    let rpcProtocol: RPCProtocol

    /// The field in which a request brings its time-out; none in plain HTTP, where a field of that name means nothing.
    public var timeoutField: TimeoutField? { rpcProtocol.timeoutField }

    /// Whether the end of a response is in HTTP's trailers, and that of one without messages in its head.
    public var endsInTrailers: Bool { rpcProtocol == .grpc }

    /// Whether the end of a response is in the last frame of its body.
    public var endsInBody: Bool { rpcProtocol.hasEnvelopes && !endsInTrailers }

    /// Reads a response that was made here.
    public func makeReader(codec: Codec) -> ResponseReader { ResponseReader(rpcProtocol: rpcProtocol, codec: codec) }
}

extension RPCProtocol {
    /// The protocol as it is spoken with a caller.
    public var callerSide: CallerSide { CallerSide(rpcProtocol: self) }
}
