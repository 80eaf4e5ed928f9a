internal import Bytes
internal import Dialects
internal import HTTP

extension AnswerReader {
    /// Sees the head of an answer.
    mutating func read(_ head: HTTPHead, _ dialect: Dialect) {
        let status = head.status
        let isEncoded = Self.isEncoded(head, dialect)
        switch (head.first(.contentType), head.first(.grpcStatus), head.first(.grpcMessage)) {
        case (nil, _, _):
            self.head(status: status, contentType: nil, isEncoded: isEncoded)
        case (let type?, nil, _):
            self.head(status: status, contentType: head.value(at: type), isEncoded: isEncoded)
        case (let type?, let code?, nil):
            self.head(
                status: status,
                contentType: head.value(at: type),
                isEncoded: isEncoded,
                grpcStatus: head.value(at: code)
            )
        case (let type?, let code?, let message?):
            self.head(
                status: status,
                contentType: head.value(at: type),
                isEncoded: isEncoded,
                grpcStatus: head.value(at: code),
                grpcMessage: head.value(at: message)
            )
        }
    }

    /// Concludes from the trailers.
    mutating func end(trailers: HTTPHead) -> Conclusion {
        switch (trailers.first(.grpcStatus), trailers.first(.grpcMessage)) {
        case (nil, _): end()
        case (let code?, nil): end(trailerGRPCStatus: trailers.value(at: code))
        case (let code?, let message?):
            end(trailerGRPCStatus: trailers.value(at: code), trailerGRPCMessage: trailers.value(at: message))
        }
    }

    private static func isEncoded(_ head: HTTPHead, _ dialect: Dialect) -> Bool {
        guard let index = head.first(dialect.encodingName) else { return false }
        return !head.value(at: index).equals("identity")
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
