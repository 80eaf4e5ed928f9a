internal import Bytes
public import RPC

/// What the query of a Connect GET tells (Connect protocol, "Unary-Get-Request").
///
/// Names and values may have escapes, which an upstream undoes (URL Standard §5.1); so they mean the same here.
public struct ConnectQuery: Equatable, Sendable {
    /// How the message is written.
    public let codec: Codec
    /// How the message is compressed.
    public let compression: Compression
    /// The bytes of the message, compressed if it is; 0 where there is none.
    public let messageSize: Int
    /// Whether a parameter of the protocol comes more than once: which of them counts, readers do not agree on.
    public let isAmbiguous: Bool
    /// Whether the message is in base64.
    let isBase64: Bool
    /// Where in the query the name of the codec lies, and the message as it is written there.
    let encoding: Range<Int>, message: Range<Int>

    /// A parameter of the protocol.
    enum Parameter: Int, CaseIterable {
        case connect, base64, compression, encoding, message

        /// The parameter that has this name, with or without escapes.
        init?(name: Span<UInt8>) {
            for parameter in Self.allCases where name.stands(for: parameter.name.utf8) {
                self = parameter
                return
            }
            return nil
        }

        private var name: String {
            switch self {
            case .connect: "connect"
            case .base64: "base64"
            case .compression: "compression"
            case .encoding: "encoding"
            case .message: "message"
            }
        }
    }

    /// Reads a query without its `?`; none if it does not say `connect=v1`.
    ///
    /// Parameters may come in any order, and unknown ones are passed over. Of those that come more than once the first
    /// counts. Allocates nothing, unless the name of a codec or of a compression has escapes.
    public init?(_ query: Span<UInt8>) {
        var values = InlineArray<5, Range<Int>?>(repeating: nil)
        var isAmbiguous = false
        var position = 0
        while let parameter = QueryParameter(in: query, at: &position) {
            guard let known = Parameter(name: query.extracting(parameter.name)) else { continue }
            if values[known.rawValue] != nil { isAmbiguous = true; continue }
            values[known.rawValue] = parameter.value
        }
        guard let version = values[Parameter.connect.rawValue], query.extracting(version).stands(for: "v1".utf8) else {
            return nil
        }
        self.isAmbiguous = isAmbiguous
        isBase64 = values[Parameter.base64.rawValue].map { query.extracting($0).stands(for: "1".utf8) } ?? false
        compression =
            values[Parameter.compression.rawValue].map { Self.undoing(query.extracting($0), Compression.init) }
            ?? .identity
        encoding = values[Parameter.encoding.rawValue] ?? 0..<0
        codec = Self.undoing(query.extracting(encoding), MediaType.codec)
        message = values[Parameter.message.rawValue] ?? 0..<0
        messageSize = Self.size(of: query.extracting(message), isBase64: isBase64)
    }

    /// What a value means once its escapes are undone.
    private static func undoing<Meaning>(_ value: Span<UInt8>, _ read: (Span<UInt8>) -> Meaning) -> Meaning {
        guard value.firstIndex(of: UInt8(ascii: "%")) != nil else { return read(value) }
        return read(PercentEncoding.decode(value).span)
    }

    /// The number of bytes that percent-encoded text stands for, and the base64 in it; padding, be it escaped, is none.
    private static func size(of text: Span<UInt8>, isBase64: Bool) -> Int {
        var characters = 0
        var index = 0
        while index < text.count {
            let isEscape = text.escapedByte(at: index) != nil
            let character = isEscape ? text.extracting(index..<index + 3) : text.extracting(index..<index + 1)
            let isPadding = character.equals("=") || character.equalsIgnoringCase("%3d")
            if !isBase64 || !isPadding { characters += 1 }
            index += character.count
        }
        return isBase64 ? characters * 3 / 4 : characters
    }
}
