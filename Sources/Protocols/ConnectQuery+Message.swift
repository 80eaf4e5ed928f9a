public import Bytes
public import RPC

extension ConnectQuery {
    /// The name of the codec, without escapes.
    ///
    /// - Parameter query: the query that this was read from.
    /// - Returns: the name; empty if there is none.
    public func codecName(in query: Span<UInt8>) -> [UInt8] {
        PercentEncoding.decode(query.extracting(encoding))
    }

    /// The message of a Connect GET, compressed if it is.
    ///
    /// - Parameter query: the query that this was read from.
    /// - Returns: the message, empty if there is none.
    /// - Throws: what the caller is to be told, where it is ambiguous which message is meant, where the message has a
    ///   semicolon or a broken escape, or where what should be base64 is not.
    public func message(in query: Span<UInt8>) throws(RPCError) -> [UInt8] {
        guard !isAmbiguous else {
            throw RPCError(.invalidArgument, "a query parameter of the protocol occurs twice")
        }
        // A plus sign is a space in a query, also in base64, which has another character for it there.
        let text = query.extracting(message).array.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard text.span.isFormValue else {
            throw RPCError(.invalidArgument, "the message in the query contains a semicolon or an invalid escape")
        }
        let message = PercentEncoding.decode(text.span)
        guard isBase64 else { return message }
        if let decoded = Base64.decode(message.span) { return decoded }
        throw RPCError(.invalidArgument, "the message in the query is not valid base64")
    }
}

extension Span<UInt8> {
    /// Whether all readers of a form take it for a value: some pass over one that has a semicolon or a broken escape.
    fileprivate var isFormValue: Bool {
        for index in indices
        where self[index] == UInt8(ascii: ";") || self[index] == UInt8(ascii: "%") && escapedByte(at: index) == nil {
            return false
        }
        return true
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
        var position = 0
        while let parameter = QueryParameter(in: query, at: &position) {
            let isForeign = ConnectQuery.Parameter(name: query.extracting(parameter.name)) == nil
            guard isForeign, !parameter.range.isEmpty else { continue }
            append(byte: UInt8(ascii: "&"))
            append(query.extracting(parameter.range))
        }
    }
}
