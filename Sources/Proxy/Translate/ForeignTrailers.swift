internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// The trailers that an upstream sends in the body or in the head of a response, on their way to HTTP's.
enum ForeignTrailers {
    /// The most bytes of names and values that a caller gets; as much as a head may have by default.
    private static let maxBytes = 64 * 1024
    /// What is about a connection or a message, which is another one on the other side (RFC 9110 §6.5.1, RFC 9113 §8.2.2).
    private static let ofMessages = Set(
        [
            "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "trailer", "host",
            "content-length", "content-type", "content-encoding",
        ].map { Array($0.utf8) }
    )

    /// Those that can be trailers.
    ///
    /// - Throws: what the caller is told about more than it can be given.
    static func checked(
        _ fields: [(name: [UInt8], value: [UInt8])]
    ) throws(RPCError) -> [(name: [UInt8], value: [UInt8])] {
        let trailers = fields.filter { field in
            !ofMessages.contains(field.name) && FieldName.isValid(String(decoding: field.name, as: UTF8.self))
                && field.value.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
        }
        let size = trailers.reduce(0) { $0 + $1.name.count + $1.value.count }
        guard size <= maxBytes else {
            throw RPCError(.resourceExhausted, "the trailers of the response exceed \(maxBytes) bytes")
        }
        return trailers
    }
}
