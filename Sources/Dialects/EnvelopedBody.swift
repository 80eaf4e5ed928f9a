internal import Bytes
internal import RPC

/// Follows a body of enveloped messages as it passes: counts the messages and keeps the frame that ends it.
///
/// Works for requests and for answers. Payloads are walked over, not copied; only the end frame is.
public struct EnvelopedBody: Sendable {
    /// The number of messages that are complete.
    public private(set) var messages = 0
    /// Whether the bytes cannot be a body of the dialect.
    public private(set) var isBroken = false
    /// Whether a message said it is compressed.
    private(set) var hasCompressedMessage = false
    /// The flags of the end frame, once it is complete.
    private(set) var endFlags: UInt8?
    /// The payload of the end frame.
    private(set) var end = Capture()

    private let endFlag: UInt8
    private var scanner = EnvelopeScanner()
    private var current: UInt8 = 0
    private var base64: Base64Decoder?

    /// Makes a follower that has seen nothing.
    public init(_ dialect: Dialect) {
        switch dialect {
        case .connectStream: endFlag = Envelope.endStream
        case .grpcWeb, .grpcWebText: endFlag = Envelope.trailers
        default: endFlag = 0
        }
        if dialect == .grpcWebText { base64 = Base64Decoder() }
    }

    /// Whether the body may end here.
    public var canEnd: Bool {
        !isBroken && scanner.isBetweenMessages && base64?.canEnd ?? true
    }

    /// Sees the next piece of the body, of any size.
    public mutating func add(_ bytes: Span<UInt8>) {
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
        if base64?.isValid == false { isBroken = true }
    }

    private mutating func scan(_ bytes: Span<UInt8>) {
        var position = 0
        while !isBroken, let event = scanner.next(in: bytes, from: &position) {
            switch event {
            case .envelope(let envelope): begin(envelope.flags)
            case .payload(let piece, let isLast):
                if isEnd(current) { end.add(bytes.extracting(piece)) }
                if isLast { finish() }
            }
        }
    }

    private mutating func begin(_ flags: UInt8) {
        current = flags
        if flags & ~(Envelope.compressed | endFlag) != 0 || endFlags != nil { isBroken = true }
        if flags & Envelope.compressed != 0 { hasCompressedMessage = true }
    }

    private mutating func finish() {
        if isEnd(current) { endFlags = current } else { messages += 1 }
    }

    private func isEnd(_ flags: UInt8) -> Bool {
        flags & endFlag != 0
    }
}
