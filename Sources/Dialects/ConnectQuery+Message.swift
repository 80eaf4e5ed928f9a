public import Bytes
public import RPC

extension ConnectQuery {
    /// The message of a Connect GET, compressed if it is.
    ///
    /// - Parameter query: the query that this was read from.
    /// - Returns: the message, empty if there is none; none if what should be base64 is not.
    public func message(in query: Span<UInt8>) -> [UInt8]? {
        let text = query.extracting(message)
        if isBase64 {
            let characters = PercentEncoding.decode(text)
            return Base64.decode(characters.span)
        }
        // A query may have a plus sign for a space, but base64 may have it as a character.
        let spaced = text.array.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(spaced.span)
    }

    /// Whether the protocol gives `parameter` a meaning, whatever its value.
    fileprivate static func knows(_ parameter: Span<UInt8>) -> Bool {
        parameter.hasPrefix("connect=") || parameter.hasPrefix("base64=") || parameter.hasPrefix("compression=")
            || parameter.hasPrefix("encoding=") || parameter.hasPrefix("message=")
    }
}

extension ByteQueue {
    /// Appends the query of a Connect GET with another message in it, in base64; no `?` before it.
    ///
    /// Codec and parameters that the protocol does not know stay as they are.
    ///
    /// - Parameters:
    ///   - query: the query to take them from, without its `?`.
    ///   - message: the message, compressed if it is.
    ///   - compression: how it is compressed; not `unknown`.
    public func append(connectQuery query: Span<UInt8>, message: Span<UInt8>, compression: Compression) {
        append("connect=v1&base64=1")
        if compression != .identity, let name = compression.name {
            append("&compression=")
            append(name)
        }
        if let encoding = ConnectQuery(query)?.encoding, !encoding.isEmpty {
            append("&encoding=")
            append(query.extracting(encoding))
        }
        append("&message=")
        append(base64: message, .urlSafe)
        append(foreignParametersOf: query)
    }

    private func append(foreignParametersOf query: Span<UInt8>) {
        var start = 0
        while start < query.count {
            let end = query.firstIndex(of: UInt8(ascii: "&"), from: start) ?? query.count
            let parameter = query.extracting(start..<end)
            start = end + 1
            guard !parameter.isEmpty, !ConnectQuery.knows(parameter) else { continue }
            append(byte: UInt8(ascii: "&"))
            append(parameter)
        }
    }
}
