public import Bytes
internal import RPC

extension RPCError {
    /// The fields that end a gRPC call with this error, be they headers, trailers or lines of a gRPC-Web frame.
    var grpcFields: [(name: [UInt8], value: [UInt8])] {
        var fields = [(name: Array("grpc-status".utf8), value: Array(String(code.rawValue).utf8))]
        if !message.isEmpty {
            let value = ByteQueue()
            value.append(percentEncoding: message.utf8Span.span)
            fields.append((Array("grpc-message".utf8), value.readable.array))
        }
        if !details.isEmpty {
            let value = ByteQueue()
            value.append(base64: status.span)
            fields.append((Array("grpc-status-details-bin".utf8), value.readable.array))
        }
        return fields + metadata.fields
    }
}

extension [(name: String, value: String)] {
    /// The same as bytes.
    var fields: [(name: [UInt8], value: [UInt8])] {
        map { (Array<UInt8>($0.name.utf8), Array<UInt8>($0.value.utf8)) }
    }
}

extension ByteQueue {
    /// Appends the frame that ends a gRPC-Web body, uncompressed.
    public func append(trailerFrame fields: [(name: [UInt8], value: [UInt8])]) {
        let lines = ByteQueue()
        lines.append(trailerLines: fields)
        append(enveloping: lines.readable, flags: Envelope.trailers)
    }

    /// Appends what such a frame holds: one line for each field, without an empty line at the end.
    ///
    /// - Parameter fields: the names, with small letters, and the values, without line breaks.
    public func append(trailerLines fields: [(name: [UInt8], value: [UInt8])]) {
        for field in fields { append(trailerLine: field.name.span, field.value.span) }
    }

    /// Appends the line of one field: its name, with small letters, and its value, without line breaks.
    public func append(trailerLine name: Span<UInt8>, _ value: Span<UInt8>) {
        append(name)
        append(": ")
        append(value)
        append("\r\n")
    }
}
