public import Bytes
internal import RPC

extension ByteQueue {
    /// Appends a message as a body of `rpcProtocol` has it: bare, in an envelope, or that in padded base64.
    ///
    /// - Parameters:
    ///   - payload: the message, compressed if the flags say so; shorter than 4 GiB.
    ///   - flags: what the envelope says of it, if there is one.
    ///   - rpcProtocol: what the body is written in.
    public func append(message payload: Span<UInt8>, flags: UInt8 = 0, in rpcProtocol: RPCProtocol) {
        switch rpcProtocol {
        case .connectUnary, .connectGet, .http: append(payload)
        case .connectStream, .grpc, .grpcWeb: append(enveloping: payload, flags: flags)
        case .grpcWebText: append(text: payload, flags: flags)
        }
    }

    /// Envelope and first byte are two whole groups of base64, so what follows can be encoded by itself.
    private func append(text payload: Span<UInt8>, flags: UInt8) {
        var start = InlineArray<6, UInt8>(repeating: flags)
        for place in 1...4 { start[place] = UInt8(truncatingIfNeeded: payload.count >> (32 - 8 * place)) }
        let first = min(1, payload.count)
        if first > 0 { start[5] = payload[0] }
        append(base64: start.span.extracting(..<(Envelope.size + first)), padded: true)
        append(base64: payload.extracting(first...), padded: true)
    }
}
