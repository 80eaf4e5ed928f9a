internal import CNghttp2

/// How far a peer's bytes have been gone through, frame by frame, and which frames there is a doubt about.
///
/// A pure value. Going back is taking a copy of an earlier time: nothing of what we have done meanwhile is in it.
struct HTTP2FrameParser {
    /// A frame that is wrong if its stream is closed.
    struct Doubt: Equatable {
        /// The number of the stream; 0 if the frame is wrong whatever its stream.
        let stream: Int32
        let isData: Bool
        /// Whether it is DATA that neither brings nor ends anything.
        let isEmpty: Bool
        /// Where the frame begins in the bytes; 0 if it began before them.
        let start: Int
        /// The flags of a HEADERS frame that CONTINUATION follows; such a frame is reported on an open stream, too.
        var longHead: UInt8?
        /// Whether the frame is an error if its stream is closed.
        var isDoubted = true
    }

    private struct Header {
        let length: Int
        let type: UInt8
        let flags: UInt8
        let stream: Int32

        /// Makes a header of its last 8 bytes.
        ///
        /// The first of the nine matters for frames of 64 KiB or more, with which nghttp2 ends the connection.
        init(_ bytes: UInt64) {
            length = Int(bytes >> 48)
            type = UInt8(truncatingIfNeeded: bytes >> 40)
            flags = UInt8(truncatingIfNeeded: bytes >> 32)
            stream = Int32(truncatingIfNeeded: bytes & 0x7FFF_FFFF)
        }

        func has(_ flag: nghttp2_flag) -> Bool { flags & UInt8(flag.rawValue) != 0 }
    }

    private let isServer: Bool
    /// How many bytes are left of the preface or of the payload of a frame.
    private(set) var left: Int
    /// Bytes of a header or a dependency that has come in part, and how many of them.
    private var gathered: UInt64 = 0
    private var gatheredCount = 0
    /// The stream of a PRIORITY frame whose dependency follows; 0 if there is none.
    private var dependent: Int32 = 0
    /// Whether a head goes on with CONTINUATION; that nothing else comes is for nghttp2 to see to.
    private var isInHead = false

    /// The streams that the peer has begun; an upstream begins none.
    private(set) var begun = HTTP2StreamNumbers()
    /// The stream of the last DATA or HEADERS, which only we can have closed; 0 if the peer has ended it.
    private var open: Int32 = 0
    /// The stream that the peer ends with the last frame, once that is complete; else 0.
    private var ending: Int32 = 0
    /// Where the numbers lie of the streams that it has ended since nghttp2 has last caught up.
    private var endedMin = Int32.max
    private var endedMax: Int32 = 0

    init(isServer: Bool) {
        self.isServer = isServer
        left = isServer ? Int(NGHTTP2_CLIENT_MAGIC_LEN) : 0
    }

    /// Goes through the bytes from a position on, which moves, until there is a doubt about a frame.
    mutating func next(in bytes: Span<UInt8>, from position: inout Int) -> Doubt? {
        while true {
            if dependent > 0 {
                guard let dependency = gather(4, of: bytes, from: &position) else { return nil }
                left -= 4
                let isWrong = Int32(dependency & 0x7FFF_FFFF) == dependent
                dependent = 0
                if isWrong { return Self.wrong(at: position) }
            }
            guard let header = nextHeader(in: bytes, from: &position) else { return nil }
            if let doubt = doubt(about: header, end: position) { return doubt }
        }
    }

    private mutating func nextHeader(in bytes: Span<UInt8>, from position: inout Int) -> Header? {
        let rest = bytes.count &- position
        guard left < rest else {
            left &-= rest
            position = bytes.count
            return nil
        }
        let start = position &+ left
        let header: Header
        if gatheredCount == 0, rest &- left >= 9 {
            let last = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start &+ 1, as: UInt64.self)
            header = Header(UInt64(bigEndian: last))
            position = start &+ 9
        } else {
            (position, left) = (start, 0)
            guard let last = gather(9, of: bytes, from: &position) else { return nil }
            header = Header(last)
        }
        left = header.length
        return header
    }

    /// Takes so many bytes, of which some may have come before; the last 8 of them are in what it returns.
    private mutating func gather(_ count: Int, of bytes: Span<UInt8>, from position: inout Int) -> UInt64? {
        while gatheredCount < count {
            guard position < bytes.count else { return nil }
            gathered = gathered << 8 | UInt64(bytes[position])
            gatheredCount += 1
            position += 1
        }
        defer { (gathered, gatheredCount) = (0, 0) }
        return gathered
    }

    /// Whether what the peer has sent since nghttp2 has last caught up may have ended this stream.
    func mayHaveEnded(_ stream: Int32) -> Bool { endedMin <= stream && stream <= endedMax }

    /// nghttp2 has processed all frames that were complete before the last one.
    mutating func caughtUp() {
        (endedMin, endedMax) = (.max, 0)
    }

    /// The stream of the last frame is not open: each further frame on it is to be asked about as well.
    mutating func leaveStream() {
        open = 0
    }

    private mutating func doubt(about header: Header, end: Int) -> Doubt? {
        if ending > 0, !isInHead {
            endedMin = min(endedMin, ending)
            endedMax = max(endedMax, ending)
            ending = 0
        }
        guard !isInHead else {
            isInHead = !header.has(NGHTTP2_FLAG_END_HEADERS)
            return nil
        }
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue:
            return message(header, isData: true, end: end)
        case NGHTTP2_HEADERS.rawValue:
            isInHead = !header.has(NGHTTP2_FLAG_END_HEADERS)
            if isServer, header.stream > begun.highest, header.stream & 1 == 1 {
                begun.add(header.stream)
                open = header.stream
            }
            let doubt = message(header, isData: false, end: end)
            return isInHead ? Self.longHead(header, doubt, end: end) : doubt
        case NGHTTP2_RST_STREAM.rawValue:
            ends(header.stream)
        case NGHTTP2_PUSH_PROMISE.rawValue:
            isInHead = !header.has(NGHTTP2_FLAG_END_HEADERS)
        case NGHTTP2_PRIORITY.rawValue:
            guard header.stream > 0 else { return Self.wrong(at: end) }
            if header.length == 5 { dependent = header.stream }
        default: break
        }
        return nil
    }

    /// A part of a message has come.
    @inline(__always)
    private mutating func message(_ header: Header, isData: Bool, end: Int) -> Doubt? {
        let stream = header.stream
        let isOpen = stream == open
        open = stream
        let isEnd = header.has(NGHTTP2_FLAG_END_STREAM)
        if isEnd { ends(stream) }
        // Streams with even numbers would be pushed, and there are none.
        guard !isOpen, stream & 1 == 1 else { return nil }
        let isEmpty = isData && !isEnd && header.length == 0
        return Doubt(stream: stream, isData: isData, isEmpty: isEmpty, start: max(0, end &- 9))
    }

    private mutating func ends(_ stream: Int32) {
        if open == stream { open = 0 }
        ending = stream
    }

    private static func longHead(_ header: Header, _ doubt: Doubt?, end: Int) -> Doubt {
        let start = max(0, end &- 9)
        var report = doubt ?? Doubt(stream: header.stream, isData: false, isEmpty: false, start: start)
        report.isDoubted = doubt != nil
        report.longHead = header.flags
        return report
    }

    private static func wrong(at start: Int) -> Doubt {
        Doubt(stream: 0, isData: false, isEmpty: false, start: start)
    }
}
