internal import RPC

extension RPCProtocol {
    /// The flag of the frame that ends a body; 0 where none does, as in every request.
    package func endFlag(_ direction: Direction) -> UInt8 {
        switch (direction, self) {
        case (.response, .connectStream): Envelope.endStream
        case (.response, .grpcWeb), (.response, .grpcWebText): Envelope.trailers
        default: 0
        }
    }
}
