internal import Bytes
internal import Protocols
internal import RPC

/// What a `MessageReader` tells of a body.
struct ReadBody: Equatable {
    /// What was told, as the bytes it stands for.
    var bytes: [UInt8] = []
    var messages = 0
    var hasEnd = false
    var hasError = false
    var canEnd = false

    init(
        _ body: Span<UInt8>,
        _ rpcProtocol: RPCProtocol,
        _ direction: Direction,
        _ needsMessages: Bool,
        _ limit: Int,
        _ cuts: Cuts
    ) {
        var reader = MessageReader(
            rpcProtocol,
            direction,
            needsMessages: needsMessages,
            messageLimit: limit,
            held: ByteQueue()
        )
        let reported = ByteQueue()
        cuts.apply(to: body) { piece in
            var position = 0
            while let event = reader.next(in: piece, from: &position) {
                demand(!hasError, "nothing follows a fault")
                demand(position <= piece.count, "no byte is used that is not there")
                switch event {
                case .message(let flags, let place):
                    demand(needsMessages, "messages are told only where they are wanted")
                    let payload = reader.bytes(at: place, in: piece)
                    demand(payload.count <= limit, "no message is over the limit")
                    reported.append(enveloping: payload, flags: flags)
                    messages += 1
                case .pass(let place):
                    demand(!needsMessages, "nothing passes where messages are wanted")
                    reported.append(reader.bytes(at: place, in: piece))
                case .end(let flags, let place):
                    reported.append(enveloping: reader.bytes(at: place, in: piece), flags: flags)
                    hasEnd = true
                case .error:
                    hasError = true
                }
            }
            demand(position == piece.count, "all of a piece is used")
        }
        // What is no base64 is found before what stands before it in the same piece is told.
        bytes = hasError && rpcProtocol == .grpcWebText ? [] : reported.readable.array
        canEnd = reader.isBetweenMessages
        demand(!hasError || !canEnd, "no body ends with a fault")
    }
}

/// What a `ResponseReader` concludes of a successful response with a body.
struct ReadResponse: Equatable {
    var messages = 0
    var conclusion: Conclusion
    var isWholeSuccess: Bool
    var canEnd: Bool

    init(_ body: Span<UInt8>, _ rpcProtocol: RPCProtocol, _ cuts: Cuts) {
        var reader = ResponseReader(rpcProtocol: rpcProtocol, codec: .proto)
        let type: StaticString =
            switch rpcProtocol {
            case .grpc: "application/grpc"
            case .grpcWeb: "application/grpc-web"
            case .grpcWebText: "application/grpc-web-text"
            default: "application/connect+proto"
            }
        reader.head(status: 200, contentType: Array(type.description.utf8).span, compression: .identity)
        cuts.apply(to: body) { piece in
            reader.body(piece)
            demand(0...piece.count ~= reader.complete, "what is complete lies in the piece")
            demand(0...piece.count ~= reader.messagesEnd || rpcProtocol == .grpcWebText, "messages end in the piece")
        }
        canEnd = reader.canEnd
        isWholeSuccess = reader.isWholeSuccess
        conclusion = reader.end()
        messages = reader.messages
    }

    func check() {
        guard isWholeSuccess else { return }
        demandSame(conclusion, .code(.ok), "a whole success is one")
        demand(canEnd, "a whole success ends where a body may end")
    }
}
