internal import Bytes
internal import Documents
internal import RPC
internal import Types

extension RPCError {
    /// Reads the error that a REST server has sent: a `google.rpc.Status` as JSON, or that in a member `error`; else what the
    /// HTTP status says.
    ///
    /// Details whose type is unknown are dropped, unless they are there in base64.
    init(restStatus body: Span<UInt8>, httpStatus: Int, _ types: KnownTypes, _ codec: MessageCodec) {
        let inferred = RPCCode(inferredFromStatus: httpStatus)
        let json = body.count <= 64 * 1024 ? try? JSON.parse(body) : nil
        let status = json?["error"] ?? json
        guard let number = status?["code"]?.integer else {
            self.init(inferred, "HTTP status \(httpStatus)")
            return
        }
        // Some have the HTTP status there.
        let code = UInt8(exactly: number).flatMap(RPCCode.init(rawValue:)) ?? inferred
        self.init(code == .ok ? inferred : code, status?["message"]?.string ?? "")
        guard case .array(let items)? = status?["details"] else { return }
        details = items.compactMap { ErrorDetail(json: $0, types, codec) }
    }
}

extension ErrorDetail {
    /// Reads a detail as the JSON of an Any.
    fileprivate init?(json: JSONValue, _ types: KnownTypes, _ codec: MessageCodec) {
        guard case .object(let members) = json, let url = json["@type"]?.string,
            let name = url.split(separator: "/").last.map(String.init)
        else { return nil }
        if let type = types.set.message(named: name) {
            let others = JSONValue.object(members.filter { $0.name != "@type" })
            let text = (type.hasOwnJSON ? json["value"] ?? .null : others).bytes
            let wire = ByteQueue()
            if (try? codec.appendMessage(ofJSON: text.span, type, types.set, limit: 1 << 20, to: wire)) != nil {
                self.init(type: name, value: wire.readable.array)
                return
            }
        }
        let base64 = json["value"]?.string.map { Array($0.utf8) } ?? []
        guard !base64.isEmpty, let value = Base64.decode(base64.span) else { return nil }
        self.init(type: name, value: value)
    }
}
