/// One frame of HTTP/2 as it is on the wire (RFC 9113 §4.1), be it right or wrong.
package struct Frame: Equatable {
    /// The types of frames that there are (RFC 9113 §6).
    package enum Kind: UInt8 {
        case data, headers, priority, reset, settings, push, ping, goaway, window, continuation
    }

    /// The flags that tests use (RFC 9113 §6).
    package enum Flag {
        package static let ack: UInt8 = 1
        package static let end: UInt8 = 1
        package static let endHeaders: UInt8 = 4
        package static let padded: UInt8 = 8
    }

    package let type: UInt8
    package let flags: UInt8
    /// The number of the stream; 0 for the connection.
    package let stream: Int
    package let payload: [UInt8]

    package init(_ kind: Kind, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []) {
        self.init(type: kind.rawValue, flags: flags, stream: stream, payload)
    }

    package init(type: UInt8, flags: UInt8, stream: Int, _ payload: [UInt8]) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    package var kind: Kind? { Kind(rawValue: type) }

    package func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// The frame as it is sent.
    package var bytes: [UInt8] {
        Array(payload.count.bigEndianBytes.suffix(3)) + [type, flags] + stream.bigEndianBytes + payload
    }
}

extension Int {
    /// The lower 32 bits, the highest byte first.
    package var bigEndianBytes: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}

extension Collection<UInt8> {
    /// The number that the bytes are, the highest first.
    package var bigEndian: Int { reduce(0) { $0 << 8 | Int($1) } }

    /// One character for each byte, so that bytes that are no UTF-8 can be compared as well.
    package var latin1: String {
        // Nearly all is ASCII, for which there is a way that is fast without optimization too.
        let text = String(decoding: self, as: UTF8.self)
        return text.isASCII ? text : String(String.UnicodeScalarView(map { Unicode.Scalar($0) }))
    }
}

extension String {
    /// One byte for each character; the other way round.
    package var latin1: [UInt8] { isASCII ? Array(utf8) : unicodeScalars.map { UInt8($0.value) } }

    /// Everything else has fewer units in UTF-16 than in UTF-8.
    fileprivate var isASCII: Bool { utf16.count == utf8.count }
}
