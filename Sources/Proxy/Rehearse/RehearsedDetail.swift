internal import Bytes
internal import Documents
internal import Protocols
internal import RPC
internal import Types

/// A typed detail of an error, as the caller of a rehearsal gets it.
package struct RehearsedDetail {
    /// The full name of its type.
    package let type: String
    /// The message as JSON; `null` if the type is unknown.
    package var view: MessageView { MessageView(json, messageType, types) }
    private let json: JSONValue
    private let messageType: MessageType?
    private let types: TypeSet?

    init(_ detail: ErrorDetail, _ types: KnownTypes?) {
        type = detail.type
        guard let known = ErrorDetailTypes.type(named: detail.type, in: types?.set),
            let json = Self.json(detail, known.type, known.types)
        else {
            (json, messageType, self.types) = (.null, nil, nil)
            return
        }
        (self.json, messageType, self.types) = (json, known.type, known.types)
    }

    private static func json(_ detail: ErrorDetail, _ type: MessageType, _ types: TypeSet) -> JSONValue? {
        let output = ByteQueue()
        do throws(MessageError) {
            try MessageCodec().appendJSON(of: detail.value.span, type, types, limit: 1 << 20, to: output)
        } catch {
            return nil
        }
        return try? JSON.parse(output.readable)
    }

    /// The details of an error in the JSON of Connect.
    static func all(inConnect error: JSONValue?, _ types: KnownTypes?) -> [RehearsedDetail] {
        guard case .array(let items)? = error?["details"] else { return [] }
        return items.compactMap { item in
            guard let type = item["type"]?.string, let text = item["value"]?.string else { return nil }
            return Base64.decode(Array(text.utf8).span).map {
                RehearsedDetail(ErrorDetail(type: type, value: $0), types)
            }
        }
    }

    /// The details in trailers of gRPC.
    static func all(in trailers: [(name: String, value: String)], _ types: KnownTypes?) -> [RehearsedDetail] {
        guard let field = trailers.first(where: { $0.name == "grpc-status-details-bin" }) else { return [] }
        let value = Array(field.value.utf8)
        return (ErrorDetail.details(grpcStatusDetails: value.span) ?? []).map { RehearsedDetail($0, types) }
    }
}
