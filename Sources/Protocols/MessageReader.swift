public import Bytes
public import RPC

/// Takes one direction of a body of enveloped messages apart, which arrives in pieces of any size.
///
/// A pure state machine. For each piece, ask `next` until there is no more, and read what an event names by `bytes`. A
/// message that lies in one piece is not copied; one that does not is put together in the queue `held`, which holds
/// memory only meanwhile. To stop between two events, keep the piece from `position` on: it is read on like a new one.
///
/// Belongs to one thread. A copy shares the queue, so only one of them may read on.
public struct MessageReader {
    /// What comes next in the body.
    public enum Event: Equatable, Sendable {
        /// A message is whole: its payload, without the envelope. Told only if messages are wanted.
        case message(flags: UInt8, Location)
        /// Bytes of messages that are not wanted whole, with their envelopes.
        case pass(Location)
        /// The frame that ends a response is whole: its payload.
        case end(flags: UInt8, Location)
        /// The bytes are no body of the protocol, or over the limit. Nothing follows.
        case error(RPCError)
    }

    /// Where the bytes of an event lie, until the reader is asked for the next one.
    public struct Location: Equatable, Sendable {
        /// Where in the piece; none if the bytes are all that is held.
        fileprivate let range: Range<Int>?
    }

    let rule: EnvelopeRule
    let needsMessages: Bool
    let limit: Int
    private let held: ByteQueue
    private var scanner: EnvelopeScanner
    /// The flags of the envelope that came last.
    private var flags: UInt8 = 0
    /// Whether what is held has been told, and can go.
    private var wasReported = false
    private(set) var hasEnded: Bool
    private var isBroken = false
    private let startsBehindEnd: Bool
    /// After a fault: whether what was told before it, but for the end, stands between two messages.
    public private(set) var lacksEnd = false
    private let isText: Bool
    private var text: TextPiece

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - rpcProtocol: what the body is written in; one that has envelopes.
    ///   - direction: who sends it.
    ///   - needsMessages: whether messages are reported whole; if not, they pass, and only the end of a response is
    ///     reported.
    ///   - messageLimit: the most bytes that what is told whole may have.
    ///   - held: an empty queue, which is the reader's own until the end of the body.
    ///   - allowsCompressed: whether a message may be compressed, since a header names the compression, or it is not known.
    ///   - start: where the body stands, within a message at most; before the first one if absent.
    ///   - hasEnded: whether the frame that ends the body has come already.
    public init(
        _ rpcProtocol: RPCProtocol,
        _ direction: Direction,
        needsMessages: Bool,
        messageLimit: Int,
        held: ByteQueue,
        allowsCompressed: Bool = true,
        from start: EnvelopeScanner = EnvelopeScanner(),
        hasEnded: Bool = false
    ) {
        scanner = start
        self.hasEnded = hasEnded
        startsBehindEnd = hasEnded
        rule = EnvelopeRule(rpcProtocol, direction, allowsCompressed: allowsCompressed)
        self.needsMessages = needsMessages
        self.held = held
        limit = messageLimit
        isText = rpcProtocol == .grpcWebText
        text = TextPiece(decoded: isText ? ByteQueue() : held)
    }

    /// Whether the body may end here: it is sound, and nothing is half read.
    public var isBetweenMessages: Bool {
        !isBroken && scanner.isBetweenMessages && text.canEnd
    }

    /// How many bytes are set aside for what has come in part.
    public var heldBytes: Int { held.capacity }

    /// Goes on from `position` in `piece` to what comes next.
    ///
    /// What passes is kept back only while its envelope is not complete.
    ///
    /// - Returns: none when all of `piece` is used; the next piece then starts at position 0.
    public mutating func next(in piece: Span<UInt8>, from position: inout Int) -> Event? {
        if wasReported { held.removeAll() }
        wasReported = false
        guard !isBroken else {
            position = piece.count
            return nil
        }
        return isText ? decode(piece, from: &position) : read(piece, from: &position)
    }

    /// The bytes at `location`, which the event that was told last names.
    ///
    /// - Parameters:
    ///   - location: where they lie.
    ///   - piece: what the reader was given when it reported the event.
    /// - Returns: the bytes, until the reader is asked for the next event.
    @_lifetime(borrow self, copy piece)
    public func bytes(at location: Location, in piece: Span<UInt8>) -> Span<UInt8> {
        guard let range = location.range else { return held.readable }
        return isText ? text.decoded.readable.extracting(range) : piece.extracting(range)
    }

    private mutating func decode(_ piece: Span<UInt8>, from position: inout Int) -> Event? {
        let decoded = text.decoded
        while true {
            var location = text.position
            let event = read(decoded.readable, from: &location)
            text.position = location
            if let event { return event }
            guard text.decode(piece, from: &position, atMost: scanner.missing) else {
                return error(textFlaw, isBetweenMessages: scanner.isBetweenMessages)
            }
            if decoded.isEmpty { return nil }
        }
    }

    private mutating func read(_ bytes: Span<UInt8>, from position: inout Int) -> Event? {
        needsMessages ? scan(bytes, from: &position) : pass(bytes, from: &position) ?? scan(bytes, from: &position)
    }

    /// Walks over messages, up to the envelope of what does not pass; none if there is nothing to walk over.
    private mutating func pass(_ bytes: Span<UInt8>, from position: inout Int) -> Event? {
        let start = position
        while true {
            var (ahead, end) = (scanner, position)
            guard let found = ahead.next(in: bytes, from: &end) else { break }
            if case .envelope(let envelope) = found {
                guard !isEnd(envelope.flags), flaw(of: envelope) == nil else { break }
                flags = envelope.flags
                if end - position < Envelope.size { held.append(envelope) }
            } else if isEnd(flags) {
                break
            }
            (scanner, position) = (ahead, end)
            if !held.isEmpty { return .pass(reportedHeld) }
        }
        return start < position ? .pass(Location(range: start..<position)) : nil
    }

    /// Goes on to the end of what is told whole.
    private mutating func scan(_ bytes: Span<UInt8>, from position: inout Int) -> Event? {
        while let found = scanner.next(in: bytes, from: &position) {
            switch found {
            case .envelope(let envelope):
                if let flaw = flaw(of: envelope) { return error(flaw, isBetweenMessages: true) }
                flags = envelope.flags
            case .payload(let range, isLast: true) where held.isEmpty:
                return whole(Location(range: range))
            case .payload(let range, let isLast):
                held.append(bytes.extracting(range))
                if isLast { return whole(reportedHeld) }
            }
        }
        return nil
    }

    private mutating func whole(_ location: Location) -> Event {
        guard isEnd(flags) else { return .message(flags: flags, location) }
        hasEnded = true
        return .end(flags: flags, location)
    }

    private var reportedHeld: Location {
        mutating get {
            wasReported = true
            return Location(range: nil)
        }
    }

    func isEnd(_ flags: UInt8) -> Bool { rule.isEnd(flags) }

    private mutating func error(_ error: RPCError, isBetweenMessages: Bool) -> Event {
        isBroken = true
        lacksEnd = isBetweenMessages && !startsBehindEnd
        return .error(error)
    }
}
