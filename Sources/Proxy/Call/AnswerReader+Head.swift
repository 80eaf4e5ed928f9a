internal import Bytes
internal import Dialects
internal import HTTP
internal import RPC

extension AnswerReader {
    /// Sees the head of an answer.
    mutating func read(_ head: HTTPHead, _ dialect: Dialect) {
        let status = head.status
        let compression = Self.compression(head, dialect)
        switch (head.first(.contentType), head.first(.grpcStatus), head.first(.grpcMessage)) {
        case (nil, _, _):
            self.head(status: status, contentType: nil, compression: compression)
        case (let type?, nil, _):
            self.head(status: status, contentType: head.value(at: type), compression: compression)
        case (let type?, let code?, nil):
            self.head(
                status: status,
                contentType: head.value(at: type),
                compression: compression,
                grpcStatus: head.value(at: code)
            )
        case (let type?, let code?, let message?):
            self.head(
                status: status,
                contentType: head.value(at: type),
                compression: compression,
                grpcStatus: head.value(at: code),
                grpcMessage: head.value(at: message)
            )
        }
    }

    /// Concludes from the trailers.
    mutating func end(trailers: HTTPHead) -> Conclusion {
        switch (trailers.first(.grpcStatus), trailers.first(.grpcMessage)) {
        case (nil, _): end(hasTrailers: trailers.count > 0)
        case (let code?, nil): end(trailerGRPCStatus: trailers.value(at: code))
        case (let code?, let message?):
            end(trailerGRPCStatus: trailers.value(at: code), trailerGRPCMessage: trailers.value(at: message))
        }
    }

    private static func compression(_ head: HTTPHead, _ dialect: Dialect) -> Compression {
        guard let index = head.first(dialect.encodingName) else { return .identity }
        return Compression(name: head.value(at: index))
    }
}

extension Dialect {
    /// The field that names how messages are compressed.
    fileprivate var encodingName: FieldName {
        switch self {
        case .connectUnary, .connectGet, .http: .contentEncoding
        case .connectStream: .connectContentEncoding
        case .grpc, .grpcWeb, .grpcWebText: .grpcEncoding
        }
    }
}

extension FieldName {
    fileprivate static let contentEncoding = FieldName("content-encoding")
    fileprivate static let connectContentEncoding = FieldName("connect-content-encoding")
    fileprivate static let grpcEncoding = FieldName("grpc-encoding")
}
