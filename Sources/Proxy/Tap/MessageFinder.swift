internal import Bytes
internal import Protocols
internal import RPC

/// Finds the messages in a body that passes, for people to look at: nothing is held back, changed or rejected for it.
///
/// A body of plain HTTP, and of unary Connect, counts as one message.
struct MessageFinder {
    /// A message, or the part of it that is kept.
    struct Found {
        /// The first bytes, as they were sent.
        var bytes: [UInt8] = []
        /// How many bytes it has.
        var count = 0
        var isCompressed = false

        var isWhole: Bool { bytes.count == count }

        mutating func add(_ more: Span<UInt8>, max: Int) {
            // One that has lost something stays without what follows.
            if isWhole { bytes.append(copy: more.extracting(0..<min(more.count, Swift.max(0, max - count)))) }
            count += more.count
        }
    }

    /// The most bytes of a message that are kept, so that it can be read as a whole.
    static let maxBytes = 64 * 1024

    private let hasEnvelopes: Bool
    /// The flag of the envelope that ends the body, which is no message.
    private let endFlag: UInt8
    private var scanner = EnvelopeScanner()
    private var base64: Base64Decoder?
    private var flags: UInt8 = 0
    private var current = Found()

    /// Makes one for a direction of a protocol.
    init(_ rpcProtocol: RPCProtocol, _ direction: Direction) {
        hasEnvelopes = rpcProtocol.hasEnvelopes
        endFlag = rpcProtocol.endFlag(direction)
        base64 = rpcProtocol == .grpcWebText ? Base64Decoder() : nil
    }

    /// Whether the last message has been received whole.
    var isBetweenMessages: Bool { !hasEnvelopes || scanner.isBetweenMessages }

    /// How many bytes are kept of a message that has not come whole.
    var held: Int { current.bytes.count }

    /// Sees the next piece of the body, of any size; keeps no more than `max` bytes of a message.
    mutating func add(_ bytes: Span<UInt8>, max: Int = maxBytes, _ found: (Found) -> Void) {
        guard hasEnvelopes else { return current.add(bytes, max: max) }
        guard base64 != nil else { return scan(bytes, max, found) }
        var decoded: [UInt8] = []
        for index in 0..<bytes.count {
            if let byte = base64?.next(bytes[index]) { decoded.append(byte) }
        }
        scan(decoded.span, max, found)
    }

    private mutating func scan(_ bytes: Span<UInt8>, _ max: Int, _ found: (Found) -> Void) {
        var position = 0
        while let event = scanner.next(in: bytes, from: &position) {
            switch event {
            case .envelope(let envelope):
                flags = envelope.flags
                current = Found(isCompressed: flags & Envelope.compressed != 0)
            case .payload(let piece, let isLast):
                current.add(bytes.extracting(piece), max: max)
                guard isLast else { continue }
                if flags & endFlag == 0 { found(current) }
                current = Found()
            }
        }
    }

    /// The body is over: what is left of it is a message, if the protocol has no envelopes.
    ///
    /// - Parameters:
    ///   - isRPC: whether a body without a byte is a message.
    ///   - found: receives it.
    mutating func end(isRPC: Bool, _ found: (Found) -> Void) {
        guard !hasEnvelopes, current.count > 0 || isRPC else { return }
        found(current)
        current = Found()
    }
}
