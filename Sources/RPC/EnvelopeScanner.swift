/// Finds the envelopes in a stream that arrives in pieces of any size; payloads are only walked over.
///
/// A pure state machine: `header → payload → header → …`.
public struct EnvelopeScanner: Sendable {
    /// What was found.
    public enum Event: Equatable, Sendable {
        /// An envelope is complete.
        case envelope(Envelope)
        /// A piece of the payload, by its place in the bytes given; the last piece may be empty.
        case payload(Range<Int>, isLast: Bool)
    }

    private enum State {
        case header(read: Int)
        case payload(remaining: Int)
    }

    private var state = State.header(read: 0)
    private var flags: UInt8 = 0
    private var length: UInt32 = 0

    /// Makes a scanner that stands before the first envelope.
    public init() {}

    /// Whether the stream may end here: no envelope and no payload is half read.
    public var isBetweenMessages: Bool {
        if case .header(read: 0) = state { true } else { false }
    }

    /// Whether a part of an envelope has come, and the rest has not.
    public var isWithinEnvelope: Bool {
        if case .header(let read) = state { read > 0 } else { false }
    }

    /// How many bytes are missing of the envelope or the payload that is being read.
    public var missing: Int {
        switch state {
        case .header(let read): Envelope.size - read
        case .payload(let remaining): remaining
        }
    }

    /// Goes on from `position` in `bytes` to what comes next.
    ///
    /// - Returns: none when all of `bytes` is used; the next piece then starts at position 0.
    public mutating func next(in bytes: Span<UInt8>, from position: inout Int) -> Event? {
        switch state {
        case .header(let read): nextEnvelope(in: bytes, from: &position, read: read)
        case .payload(let remaining): nextPayload(in: bytes, from: &position, remaining: remaining)
        }
    }

    private mutating func nextEnvelope(in bytes: Span<UInt8>, from position: inout Int, read: Int) -> Event? {
        var read = read
        // Nearly all come whole, and are read at once.
        if read == 0, bytes.count - position >= Envelope.size {
            let whole = bytes.extracting(position..<position + Envelope.size)
            flags = whole[0]
            length = UInt32(whole[1]) << 24 | UInt32(whole[2]) << 16 | UInt32(whole[3]) << 8 | UInt32(whole[4])
            read = Envelope.size
            position += read
        }
        while position < bytes.count, read < Envelope.size {
            if read == 0 {
                flags = bytes[position]
            } else {
                length = length << 8 | UInt32(bytes[position])
            }
            position += 1
            read += 1
        }
        guard read == Envelope.size else {
            state = .header(read: read)
            return nil
        }
        state = .payload(remaining: Int(length))
        return .envelope(Envelope(flags: flags, length: length))
    }

    private mutating func nextPayload(in bytes: Span<UInt8>, from position: inout Int, remaining: Int) -> Event? {
        let start = position
        let taken = min(remaining, bytes.count - start)
        guard taken > 0 || remaining == 0 else { return nil }
        position += taken
        state = taken == remaining ? .header(read: 0) : .payload(remaining: remaining - taken)
        if taken == remaining { length = 0 }
        return .payload(start..<position, isLast: taken == remaining)
    }
}
