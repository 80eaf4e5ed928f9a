internal import Bytes
internal import Protocols
internal import RPC
internal import Types

/// How the messages of a call are converted for an upstream that does not understand their codec.
///
/// Each is decompressed for that, and is not compressed again.
final class MessageConversion {
    /// The codec that the upstream understands: the other one is the caller's.
    let codec: Codec
    private let method: MethodType
    private let types: KnownTypes
    private let limit: Int

    /// Converts for calls of a method, whose messages may have `limit` bytes in either form.
    init(_ method: MethodType, _ types: KnownTypes, to codec: Codec, limit: Int) {
        self.method = method
        self.types = types
        self.codec = codec
        self.limit = limit
    }

    /// Appends a message as the other side understands it.
    ///
    /// - Parameters:
    ///   - payload: the message as it has come.
    ///   - compression: how it is compressed.
    ///   - direction: who sends it.
    ///   - worker: the worker of the call.
    ///   - output: where it goes.
    /// - Throws: what the caller is told about a message that cannot be converted.
    func append(
        _ payload: Span<UInt8>,
        _ compression: Compression,
        _ direction: Direction,
        on worker: Worker,
        to output: ByteQueue
    ) throws(RPCError) {
        guard compression != .identity, !payload.isEmpty else {
            return try convert(payload, direction, worker, to: output)
        }
        let plain = worker.acquireQueue()
        defer { worker.release(plain) }
        try worker.decompress(payload, from: compression, direction, limit: limit, to: plain)
        try convert(plain.readable, direction, worker, to: output)
    }

    private func convert(
        _ message: Span<UInt8>,
        _ direction: Direction,
        _ worker: Worker,
        to output: ByteQueue
    ) throws(RPCError) {
        let type = direction == .request ? method.request : method.response
        do throws(MessageError) {
            let wanted = direction == .request ? codec : codec == .proto ? .json : .proto
            if wanted == .proto {
                // A response with more is that of a newer version.
                try worker.messageCodec.appendMessage(
                    ofJSON: message,
                    type,
                    types.set,
                    dropsUnknown: types.dropsUnknown || direction == .response,
                    limit: limit,
                    to: output
                )
            } else {
                try worker.messageCodec.appendJSON(
                    of: message,
                    type,
                    types.set,
                    types.form,
                    limit: limit,
                    to: output
                )
            }
            types.unknownFields.count(of: method, direction, worker)
        } catch {
            let isTooLarge = error.reason == .tooLarge
            throw isTooLarge ? tooLarge(error.description, direction) : Self.flaw(error.description, direction)
        }
    }

    private func tooLarge(_ problem: String, _ direction: Direction) -> RPCError {
        RPCError(
            .resourceExhausted,
            "a \(direction) message cannot be converted within limits.held_message: \(problem)"
        )
    }

    /// What is wrong with a request is its sender's concern, and what is wrong with a response is not.
    private static func flaw(_ problem: String, _ direction: Direction) -> RPCError {
        direction == .request
            ? RPCError(.invalidArgument, problem)
            : RPCError(.internal, "the upstream sent an invalid response: \(problem)")
    }
}
