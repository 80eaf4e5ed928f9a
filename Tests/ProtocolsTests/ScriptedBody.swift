import Bytes
import Protocols
import RPC
import Testing

/// A body that is read in pieces, and what came out of it; bytes that pass are put together.
struct ScriptedBody {
    enum Part: Equatable {
        case message(flags: UInt8, [UInt8])
        case passed([UInt8])
        case end(flags: UInt8, [UInt8])
        case error(RPCError)
    }

    private(set) var parts: [Part] = []
    /// How many messages and ends lay in the piece that was given, and were not copied.
    private(set) var uncopied = 0
    let held = ByteQueue()
    private var reader: MessageReader

    init(
        _ rpcProtocol: RPCProtocol,
        _ direction: Direction = .response,
        needsMessages: Bool = true,
        limit: Int = 1000,
        from start: EnvelopeScanner = EnvelopeScanner()
    ) {
        reader = MessageReader(
            rpcProtocol,
            direction,
            needsMessages: needsMessages,
            messageLimit: limit,
            held: held,
            from: start
        )
    }

    var isBetweenMessages: Bool { reader.isBetweenMessages }

    mutating func comes(_ piece: [UInt8]) {
        var position = 0
        while let event = reader.next(in: piece.span, from: &position) { note(event, piece) }
        #expect(position == piece.count)
    }

    /// Reads a piece as one does who stops after each event and keeps the rest for later.
    mutating func comesBitByBit(_ piece: [UInt8]) {
        var rest = piece
        while !rest.isEmpty {
            var position = 0
            if let event = reader.next(in: rest.span, from: &position) { note(event, rest) }
            rest.removeFirst(position)
        }
    }

    private mutating func note(_ event: MessageReader.Event, _ piece: [UInt8]) {
        switch event {
        case .message(let flags, let location): parts.append(.message(flags: flags, bytes(location, piece)))
        case .end(let flags, let location): parts.append(.end(flags: flags, bytes(location, piece)))
        case .error(let error): parts.append(.error(error))
        case .pass(let location):
            let bytes = reader.bytes(at: location, in: piece.span).array
            if case .passed(let before) = parts.last {
                parts[parts.count - 1] = .passed(before + bytes)
            } else {
                parts.append(.passed(bytes))
            }
        }
    }

    private mutating func bytes(_ location: MessageReader.Location, _ piece: [UInt8]) -> [UInt8] {
        if held.isEmpty { uncopied += 1 }
        return reader.bytes(at: location, in: piece.span).array
    }
}

/// Every way to cut a body: in three at every two places, and into single bytes.
func everyCut(of body: [UInt8]) -> [[[UInt8]]] {
    var cuts = [body.map { [$0] }]
    for first in 0...body.count {
        for second in first...body.count {
            cuts.append([Array(body[..<first]), Array(body[first..<second]), Array(body[second...])])
        }
    }
    return cuts
}
