internal import Bytes

/// How the end of an HTTP/1 body is known (RFC 9112 §6.3).
enum HTTP1Framing: Equatable {
    /// There is no body.
    case none
    /// By the number of bytes.
    case length(Int)
    /// By chunks, the last of which is empty and followed by a trailer section.
    case chunked
    /// By the end of the connection; responses only.
    case untilEnd
}

/// Takes the framing off a body (RFC 9112 §6 and §7).
///
/// ```
/// .length:   data(n) ──────────────────────────────→ ended
/// .chunked:  size → data(n) → dataEnd → size … size(0) → trailers → ended
/// .untilEnd: data(∞)
/// ```
struct HTTP1BodyDecoder {
    /// The next piece of a body.
    enum Piece: Equatable {
        /// Bytes of the body, from here to there in what was given.
        case data(from: Int, to: Int)
        /// The body is complete; its trailers are in the head that was given.
        case end
        /// More bytes are needed.
        case more
    }

    private enum State {
        case data(left: Int)
        case size
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case ended
    }

    /// The longest line with a chunk size and extensions, which are read over.
    private static let maxSizeLine = 256

    private var state: State
    /// Whether a trailer section may follow the body; then `next` needs a head for it.
    let mayHaveTrailers: Bool

    init(_ framing: HTTP1Framing) {
        mayHaveTrailers = framing == .chunked
        state =
            switch framing {
            case .none, .length(0): .ended
            case .length(let count): .data(left: count)
            case .chunked: .size
            case .untilEnd: .data(left: .max)
            }
    }

    /// Whether the body is complete.
    var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Reads the next piece of the body from `position` on and moves it behind; trailers are read by `parser`.
    mutating func next(
        _ bytes: Span<UInt8>,
        from position: inout Int,
        trailers: HTTPHead?,
        by parser: inout HTTP1HeadParser,
        within limits: HTTPLimits
    ) throws(HTTPError) -> Piece {
        while true {
            switch state {
            case .data(let left):
                guard position < bytes.count else { return .more }
                let piece = read(left, of: bytes, &position)
                let rest = left == .max ? left : left - piece.count
                state = rest == 0 ? .ended : .data(left: rest)
                return .data(from: piece.lowerBound, to: piece.upperBound)
            case .size:
                guard let size = try readSize(bytes, &position) else { return .more }
                state = size == 0 ? .trailers : .chunk(left: size)
                if size == 0 { parser = HTTP1HeadParser(.trailers) }
            case .chunk(let left):
                guard position < bytes.count else { return .more }
                let piece = read(left, of: bytes, &position)
                state = piece.count == left ? .chunkEnd : .chunk(left: left - piece.count)
                return .data(from: piece.lowerBound, to: piece.upperBound)
            case .chunkEnd:
                guard position + 2 <= bytes.count else { return .more }
                guard bytes[position] == 0x0d, bytes[position + 1] == 0x0a else { throw .chunkEnd }
                position += 2
                state = .size
            case .trailers:
                guard try parser.parse(bytes, from: &position, into: trailers!, within: limits) else { return .more }
                state = .ended
            case .ended:
                return .end
            }
        }
    }

    private func read(_ left: Int, of bytes: Span<UInt8>, _ position: inout Int) -> Range<Int> {
        let start = position
        position += min(left, bytes.count - position)
        return start..<position
    }

    /// Reads `1*HEXDIG [ ";" extension ] CRLF`; space before the `;` is rejected, as a place to hide.
    private func readSize(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) -> Int? {
        guard let lineFeed = bytes.firstIndex(of: 0x0a, from: position) else {
            guard bytes.count - position <= Self.maxSizeLine else { throw .chunkSize }
            return nil
        }
        guard lineFeed - position <= Self.maxSizeLine, lineFeed > position, bytes[lineFeed - 1] == 0x0d else {
            throw .chunkSize
        }
        let line = bytes.extracting(position..<lineFeed - 1)
        var size = 0
        var digits = 0
        while digits < line.count, let digit = Self.hexadecimal(line[digits]) {
            size = size << 4 | digit
            digits += 1
        }
        guard digits > 0, digits <= 15, digits == line.count || line[digits] == UInt8(ascii: ";") else {
            throw .chunkSize
        }
        for index in digits..<line.count where !HTTP1Grammar.isValue(line[index]) { throw .chunkSize }
        position = lineFeed + 1
        return size
    }

    private static func hexadecimal(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte) - 0x57
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte) - 0x37
        default: nil
        }
    }
}
