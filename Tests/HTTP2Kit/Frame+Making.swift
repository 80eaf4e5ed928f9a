/// What a peer says, from a few words.
extension Frame {
    package typealias Fields = KeyValuePairs<String, String>

    /// A head or trailers, in one frame; no field is compressed.
    package static func headers(_ stream: Int, _ fields: Fields, end: Bool = false) -> Frame {
        Frame(
            .headers,
            flags: Flag.endHeaders | (end ? Flag.end : 0),
            stream: stream,
            fields.flatMap { HPACK.literal($0.key, $0.value) }
        )
    }

    /// The head of a request.
    package static func request(
        _ stream: Int,
        _ method: String = "POST",
        _ path: String = "/",
        _ fields: Fields = [:],
        authority: String = "a",
        end: Bool = false
    ) -> Frame {
        let control = [(":method", method), (":scheme", "http"), (":authority", authority), (":path", path)]
        return Frame(
            .headers,
            flags: Flag.endHeaders | (end ? Flag.end : 0),
            stream: stream,
            (control + fields.map { ($0.key, $0.value) }).flatMap { HPACK.literal($0.0, $0.1) }
        )
    }

    /// The head of a response.
    package static func response(_ stream: Int, _ status: Int = 200, _ fields: Fields = [:], end: Bool = false) -> Frame
    {
        Frame(
            .headers,
            flags: Flag.endHeaders | (end ? Flag.end : 0),
            stream: stream,
            HPACK.literal(":status", "\(status)") + fields.flatMap { HPACK.literal($0.key, $0.value) }
        )
    }

    /// A piece of a body, one byte for each character.
    package static func data(_ stream: Int, _ body: String = "", end: Bool = false) -> Frame {
        data(stream, body.latin1, end: end)
    }

    package static func data(_ stream: Int, _ body: [UInt8], end: Bool = false) -> Frame {
        Frame(.data, flags: end ? Flag.end : 0, stream: stream, body)
    }

    package static func reset(_ stream: Int, _ code: Code) -> Frame {
        Frame(.reset, stream: stream, code.rawValue.bigEndianBytes)
    }

    package static func settings(_ values: KeyValuePairs<Setting, Int> = [:]) -> Frame {
        Frame(.settings, values.flatMap { $0.key.rawValue.bigEndianBytes.suffix(2) + $0.value.bigEndianBytes })
    }

    package static let settingsAck = Frame(.settings, flags: Flag.ack)

    package static func ping(_ opaque: [UInt8] = Array("01234567".utf8), ack: Bool = false) -> Frame {
        Frame(.ping, flags: ack ? Flag.ack : 0, opaque)
    }

    package static func goaway(_ last: Int, _ code: Code = .noError) -> Frame {
        Frame(.goaway, last.bigEndianBytes + code.rawValue.bigEndianBytes)
    }

    package static func window(_ stream: Int, _ count: Int) -> Frame {
        Frame(.window, stream: stream, count.bigEndianBytes)
    }

    package static func priority(_ stream: Int, on dependency: Int = 0) -> Frame {
        Frame(.priority, stream: stream, dependency.bigEndianBytes + [15])
    }

    package static func continuation(_ stream: Int, _ block: [UInt8], end: Bool = false) -> Frame {
        Frame(.continuation, flags: end ? Flag.endHeaders : 0, stream: stream, block)
    }

    /// The frame as HEADERS without the flag that ends the head, for CONTINUATION to follow.
    package var unfinished: Frame {
        Frame(type: type, flags: flags & ~Flag.endHeaders, stream: stream, payload)
    }
}

/// The parameters of SETTINGS (RFC 9113 §6.5.2).
package enum Setting: Int {
    case tableSize = 1
    case push, streams, window, frameSize, headerList
    case noPriorities = 9
}

/// The error codes (RFC 9113 §7).
package enum Code: Int {
    case noError, protocolError, internalError, flowControl, settingsTimeout, streamClosed, frameSize, rejected, cancel
    case compression, connect, calm, security, http11
}

extension Code {
    /// The name in the registry of the protocol.
    package var name: String {
        [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ][rawValue]
    }
}

extension Frame {
    /// The bytes of a head in frames of at most `size` bytes.
    package static func head(_ stream: Int, _ block: [UInt8], end: Bool = false, size: Int = 16 * 1024) -> [UInt8] {
        let first = block.prefix(size)
        let flags = (end ? Flag.end : 0) | (first.count == block.count ? Flag.endHeaders : 0)
        var bytes = Frame(.headers, flags: flags, stream: stream, Array(first)).bytes
        for start in stride(from: size, to: block.count, by: size) {
            let last = min(block.count, start + size)
            bytes += continuation(stream, Array(block[start..<last]), end: last == block.count).bytes
        }
        return bytes
    }
}
