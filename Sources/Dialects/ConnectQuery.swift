internal import Bytes
public import RPC

/// What the query of a Connect GET tells (Connect protocol, "Unary-Get-Request").
public struct ConnectQuery: Equatable, Sendable {
    /// How the message is written.
    public private(set) var codec = Codec.other
    /// How the message is compressed.
    public private(set) var compression = Compression.identity
    /// The bytes of the message, compressed if it is; 0 where there is none.
    public private(set) var messageSize = 0
    /// Whether the message is in base64.
    private(set) var isBase64 = false
    /// Where in the query the name of the codec lies, and the message as it is written there.
    private(set) var encoding = 0..<0, message = 0..<0

    /// Reads a query without its `?`; none if it does not say `connect=v1`.
    ///
    /// Parameters may come in any order, and unknown ones are passed over. Allocates nothing.
    public init?(_ query: Span<UInt8>) {
        var isConnect = false
        var start = 0
        while start < query.count {
            let end = query.firstIndex(of: UInt8(ascii: "&"), from: start) ?? query.count
            let parameter = query.extracting(start..<end)
            if parameter.equals("connect=v1") {
                isConnect = true
            } else if parameter.equals("base64=1") {
                isBase64 = true
            } else if parameter.hasPrefix("encoding=") {
                encoding = start + 9..<end
            } else if parameter.hasPrefix("compression=") {
                compression = Compression(name: parameter.extracting(12..<parameter.count))
            } else if parameter.hasPrefix("message=") {
                message = start + 8..<end
            }
            start = end + 1
        }
        guard isConnect else { return nil }
        codec = MediaType.codec(query.extracting(encoding))
        messageSize = Self.size(of: query.extracting(message), isBase64: isBase64)
    }

    /// The number of bytes that percent-encoded text stands for, and the base64 in it; padding, be it escaped, is none.
    private static func size(of text: Span<UInt8>, isBase64: Bool) -> Int {
        var characters = 0
        var index = 0
        while index < text.count {
            let isEscape = text[index] == UInt8(ascii: "%") && index + 2 < text.count
            let character = isEscape ? text.extracting(index..<index + 3) : text.extracting(index..<index + 1)
            let isPadding = character.equals("=") || character.equalsIgnoringCase("%3d")
            if !isBase64 || !isPadding { characters += 1 }
            index += character.count
        }
        return isBase64 ? characters * 3 / 4 : characters
    }
}
