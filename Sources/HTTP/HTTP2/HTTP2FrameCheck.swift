internal import CNghttp2

/// Finds the frames that nghttp2 ignores and RFC 9113 takes for errors: DATA and HEADERS on closed streams, and PRIORITY
/// frames that are wrong on any stream.
///
/// ```
///                          ┌──────┐
///                          │ idle │   all but HEADERS and PRIORITY: nghttp2 ends the connection
///                          └──┬───┘
///                             │ HEADERS
///                             ▼
///                recv ES   ┌──────┐   send ES
///           ┌──────────────┤ open ├──────────────┐
///           ▼              └──┬───┘              ▼
///    ┌─────────────┐          │           ┌─────────────┐
///    │ half-closed │          │           │ half-closed │
///    │  (remote)   │          │           │   (local)   │
///    └──────┬──────┘          │           └──────┬──────┘
///     DATA, HEADERS: nghttp2  │                  │
///     ends the connection     │ RST_STREAM       │
///           │                 ▼                  │
///           │ send ES     ┌────────┐     recv ES │
///           └────────────▶│ closed │◀────────────┘
///             RST_STREAM  └────────┘  RST_STREAM
///
///    closed by our RST_STREAM or GOAWAY   everything is ignored: the peer may not have seen it yet
///    closed by the peer                   DATA, HEADERS: errors; all else is ignored
/// ```
///
/// Nothing is kept of a closed stream. It is one that has begun, by its number, and that nghttp2 does not have; and we may
/// have closed it if its number is not above that of a stream that we have reset.
///
/// A stream that depends on itself is an error of RFC 7540 §5.3.1, whose priorities RFC 9113 only deprecates; nghttp2 finds it
/// in HEADERS.
///
/// A pure value, which is shown all bytes of the peer before nghttp2 processes them. Where nghttp2 pauses, the parser goes back
/// with it; what we have done does not become undone.
struct HTTP2FrameCheck {
    typealias Doubt = HTTP2FrameParser.Doubt

    /// What a wrong frame ends: its stream, or the connection (RFC 9113 §5.4).
    enum ProtocolError: Equatable {
        case stream(HTTP2Code)
        case connection(HTTP2Code)
    }

    private let isServer: Bool
    /// What the peer has sent.
    private(set) var parser: HTTP2FrameParser

    /// The streams that we have begun; on the server's side there are none.
    private var begun = HTTP2StreamNumbers()
    /// The highest number of a stream that we have reset.
    private var highestReset: Int32 = 0
    /// The highest number of a stream that our GOAWAY lets be.
    private var highestAccepted = Int32.max

    init(isServer: Bool) {
        self.isServer = isServer
        parser = HTTP2FrameParser(isServer: isServer)
    }

    // MARK: What we do

    /// A stream has begun; on the server's side the frames tell it themselves.
    mutating func began(_ stream: Int32) {
        begun.add(stream)
    }

    /// We have reset a stream, or are going to.
    mutating func reset(_ stream: Int32) {
        highestReset = max(highestReset, stream)
    }

    /// We have told the peer in a GOAWAY which of its streams is the last one.
    mutating func sentGoaway(last stream: Int32) {
        highestAccepted = min(highestAccepted, stream)
    }

    // MARK: What the peer does

    /// Goes through the bytes from a position on, which moves, until there is a doubt about a frame.
    @inline(__always)
    mutating func next(in bytes: Span<UInt8>, from position: inout Int) -> Doubt? {
        parser.next(in: bytes, from: &position)
    }

    /// The bytes that are left of the payload of the last frame.
    var left: Int { parser.left }

    /// Goes through bytes of a head that CONTINUATION follows; inside of it, nothing is in doubt.
    mutating func skip(_ bytes: Span<UInt8>, from start: Int) {
        var position = start
        while parser.next(in: bytes, from: &position) != nil {}
    }

    /// Goes through bytes once more, from where `earlier` was; frames in between are no news.
    mutating func goBack(to earlier: HTTP2FrameParser, in bytes: Span<UInt8>, from start: Int) {
        parser = earlier
        skip(bytes, from: start)
    }

    /// Whether what the peer has sent since nghttp2 has last caught up may have ended this stream.
    func mayHaveEnded(_ stream: Int32) -> Bool { parser.mayHaveEnded(stream) }

    /// nghttp2 has processed all frames that were complete before the last one.
    mutating func caughtUp() {
        parser.caughtUp()
    }

    /// The frame in doubt is on a stream that nghttp2 does not have; the error that this is, if it is one.
    mutating func error(of doubt: Doubt) -> ProtocolError? {
        guard doubt.stream > 0 else { return .connection(.protocolError) }
        parser.leaveStream()
        let begun = isServer ? parser.begun : begun
        // On a stream that has not begun, nghttp2 takes it for an error.
        guard doubt.stream <= min(begun.highest, highestAccepted), doubt.stream > highestReset else { return nil }
        // An upstream that sends too much is no reason to end the calls of others.
        if doubt.isData || !isServer { return .stream(.streamClosed) }
        return .connection(begun.skipped.contains(doubt.stream) ? .protocolError : .streamClosed)
    }
}
