internal import Bytes
internal import RPC

/// Follows a body of enveloped messages as it passes: measures the messages and keeps the frame that ends it.
///
/// Payloads are walked over, not copied; only the end frame is. Flags that the protocol does not know break the body but
/// not its framing, so what follows them is measured all the same.
public struct EnvelopedBody: Sendable {
    /// The number of messages that are complete.
    public private(set) var messages = 0
    /// Whether the bytes cannot be a body of the protocol.
    public private(set) var isBroken = false
    /// The size of the largest message whose envelope has come.
    private(set) var largest = 0
    /// How many bytes of the piece that was seen last belong to messages that are complete, up to one that is over the
    /// limit.
    private(set) var complete = 0
    /// Whether an envelope has had flags that the protocol does not know.
    private(set) var hasUnknownFlags = false
    /// Whether a message said it is compressed.
    private(set) var hasCompressedMessage = false
    /// The flags of the end frame, once it is complete.
    private(set) var endFlags: UInt8?
    /// The payload of the end frame.
    private(set) var end = Capture()

    private let endFlag: UInt8
    private let limit: Int
    private var scanner = EnvelopeScanner()
    /// Where the piece that was seen last stood in its envelopes from `messagesEnd` on.
    private(set) var start = EnvelopeScanner()
    /// How many bytes of that piece are of messages up to the end of one.
    private(set) var messagesEnd = 0
    /// Whether the frame that ends the body had come before that piece.
    private(set) var startsBehindEnd = false
    private var current: UInt8 = 0
    private var base64: Base64Decoder?

    /// Makes a follower that has seen nothing; only responses have a frame that ends them.
    public init(_ rpcProtocol: RPCProtocol, _ direction: Direction = .response, limit: Int = .max) {
        self.limit = limit
        endFlag = rpcProtocol.endFlag(direction)
        if rpcProtocol == .grpcWebText { base64 = Base64Decoder() }
    }

    /// Whether the text of the body is not base64: nothing behind the fault is seen.
    var isNoBase64: Bool { base64?.isValid == false }

    /// Whether the body may end here.
    public var canEnd: Bool {
        !isBroken && scanner.isBetweenMessages && base64?.canEnd ?? true
    }

    /// Whether nothing but messages has come, and it is known where the last of them ends.
    var isOfMessages: Bool {
        !isBroken && endFlags == nil && !scanner.isWithinEnvelope && (scanner.isBetweenMessages || !isEnd(current))
    }

    /// Sees the next piece of the body, of any size.
    public mutating func add(_ bytes: Span<UInt8>) {
        complete = 0
        (start, messagesEnd) = (scanner, 0)
        startsBehindEnd = endFlags != nil
        if base64 == nil { scan(bytes) } else { decode(bytes) }
    }

    private mutating func decode(_ text: Span<UInt8>) {
        var decoded = InlineArray<256, UInt8>(repeating: 0)
        var count = 0
        for index in 0..<text.count {
            guard let byte = base64?.next(text[index]) else { continue }
            decoded[count] = byte
            count += 1
            guard count == decoded.count else { continue }
            scan(decoded.span)
            count = 0
        }
        scan(decoded.span.extracting(0..<count))
        if isNoBase64 { isBroken = true }
    }

    private mutating func scan(_ bytes: Span<UInt8>) {
        var position = 0
        while let event = scanner.next(in: bytes, from: &position) {
            switch event {
            case .envelope(let envelope): begin(envelope)
            case .payload(let piece, let isLast):
                if isEnd(current) { end.add(bytes.extracting(piece)) }
                if isLast {
                    finish()
                    if largest <= limit { complete = position }
                    if isOfMessages { (start, messagesEnd) = (scanner, position) }
                }
            }
        }
    }

    private mutating func begin(_ envelope: Envelope) {
        current = envelope.flags
        if current & ~(Envelope.compressed | endFlag) != 0 { hasUnknownFlags = true }
        if hasUnknownFlags || endFlags != nil { isBroken = true }
        if current & Envelope.compressed != 0 { hasCompressedMessage = true }
        if !isEnd(current) { largest = max(largest, Int(envelope.length)) }
    }

    private mutating func finish() {
        if isEnd(current) {
            endFlags = current
        } else if current & ~Envelope.compressed == 0 {
            messages += 1
        }
    }

    private func isEnd(_ flags: UInt8) -> Bool {
        flags & endFlag != 0
    }
}
