internal import Bytes
internal import Protocols
internal import RPC

/// Bodies of enveloped messages; the first byte says in which protocol, and in which direction.
///
/// Each reader says the same however the body is cut, and what they tell adds up to the bytes that came.
enum Envelopes {
    static func run(_ input: Span<UInt8>) {
        guard input.count > 0 else { return }
        let choice = input[0]
        let body = input.extracting(1...)
        let rpcProtocol: RPCProtocol = [.grpc, .grpcWeb, .grpcWebText, .connectStream][Int(choice & 3)]
        let direction: Direction = choice & 4 == 0 ? .request : .response
        scan(body)
        let followed = Cuts.same("messages followed") { Followed(body, rpcProtocol, direction, $0) }
        let limit = choice & 8 == 0 ? Int.max : 64
        for needsMessages in [true, false] {
            let read = Cuts.same("messages read") { ReadBody(body, rpcProtocol, direction, needsMessages, limit, $0) }
            compare(read, followed, body, rpcProtocol, isWhole: needsMessages && limit == .max)
        }
        if direction == .response { Cuts.same("a response read") { ReadResponse(body, rpcProtocol, $0) }.check() }
    }

    private static func compare(
        _ read: ReadBody,
        _ followed: Followed,
        _ body: Span<UInt8>,
        _ rpcProtocol: RPCProtocol,
        isWhole: Bool
    ) {
        guard !read.hasError else { return }
        demand(!followed.isBroken, "what the reader takes, the follower takes: \(read)")
        demandSame(read.canEnd, followed.canEnd, "reader and follower agree on where a body may end")
        if isWhole { demandSame(read.messages, followed.messages, "reader and follower count the same messages") }
        if rpcProtocol != .grpcWebText {
            demand(body.hasPrefix(read.bytes), "what was told is what came: \(read)")
            if read.canEnd { demandSame(read.bytes, body.array, "all of a whole body is told") }
        }
    }

    private static func scan(_ body: Span<UInt8>) {
        let bytes = Cuts.same("envelopes found") { cuts in
            var scanner = EnvelopeScanner()
            let reported = ByteQueue()
            var left = 0
            cuts.apply(to: body) { piece in
                var position = 0
                while let event = scanner.next(in: piece, from: &position) {
                    switch event {
                    case .envelope(let envelope):
                        demand(left == 0, "an envelope follows a whole payload")
                        left = Int(envelope.length)
                        reported.append(envelope)
                    case .payload(let range, let isLast):
                        left -= range.count
                        demand(isLast == (left == 0), "the last piece is the last")
                        reported.append(piece.extracting(range))
                    }
                }
                demand(position == piece.count, "all of a piece is used")
            }
            demand(scanner.isWithinEnvelope || scanner.missing == left || left == 0, "what is missing adds up")
            return reported.readable.array
        }
        demand(body.hasPrefix(bytes), "envelopes and payloads are the bytes that came")
    }
}

/// What `EnvelopedBody` says of a body.
struct Followed: Equatable {
    var messages: Int
    var isBroken: Bool
    var canEnd: Bool

    init(_ body: Span<UInt8>, _ rpcProtocol: RPCProtocol, _ direction: Direction, _ cuts: Cuts) {
        var follower = EnvelopedBody(rpcProtocol, direction)
        cuts.apply(to: body) { follower.add($0) }
        messages = follower.messages
        isBroken = follower.isBroken
        canEnd = follower.canEnd
    }
}
