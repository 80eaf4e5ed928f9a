internal import Bytes
internal import Documents
public import RPC
internal import Types

extension RPCError {
    /// Reads the error that a REST server has sent: a `google.rpc.Status` as JSON, or that in a member `error`.
    ///
    /// The code is that of the member `code`, or of the name in `status`, as Google's APIs have it beside the HTTP status;
    /// else that of the HTTP status. The types of `google.rpc` that details have are always known. Details of other unknown types
    /// are dropped, unless they are there in base64.
    ///
    /// - Parameters:
    ///   - body: what the server has sent.
    ///   - httpStatus: its status.
    ///   - types: the types that details may have.
    ///   - codec: what reads the details.
    ///   - isForeign: whether a number in `code` may be one of the server's own: then it counts only if it fits the status.
    init(
        restStatus body: Span<UInt8>,
        httpStatus: Int,
        _ types: KnownTypes?,
        _ codec: MessageCodec,
        isForeign: Bool = false
    ) {
        let json = body.count <= 64 * 1024 ? JSON.error(in: body) : nil
        let status = json?["error"] ?? json
        let number = status?["code"]?.integer.flatMap { UInt8(exactly: $0) }
        let name = status?["status"]?.string?.lowercased()
        var code = number.flatMap(RPCCode.init(rawValue:)) ?? .ok
        if isForeign, code.httpStatus != httpStatus { code = .ok }
        if code == .ok, let name { code = name == "cancelled" ? .canceled : RPCCode(name: name) ?? .ok }
        if code == .ok { code = RPCCode(restStatus: httpStatus) }
        // The second is that of RFC 9457.
        let message = status?["message"] ?? json?["detail"] ?? status ?? .null
        self.init(code, message.string ?? json?["title"]?.string ?? "HTTP status \(httpStatus)")
        guard case .array(let items)? = status?["details"] else { return }
        details = items.compactMap { ErrorDetail(json: $0, types, codec) }
    }
}

extension Call {
    /// The error that the response of an HTTP API means: its code is that of its HTTP status, unless it is one of `google.rpc`.
    public func error(of response: FetchedResponse) -> RPCError {
        RPCError(
            restStatus: response.body.span,
            httpStatus: response.status,
            generation.types,
            worker.messageCodec,
            isForeign: true
        )
    }
}

extension RPCCode {
    /// The code whose HTTP status this is (google/rpc/code.proto), or that is nearest to it: servers of REST mean something by
    /// it, which those of gRPC leave to what stands before them.
    fileprivate init(restStatus status: Int) {
        switch status {
        case 400: self = .invalidArgument
        case 404: self = .notFound
        case 409: self = .aborted
        case 412: self = .failedPrecondition
        case 416: self = .outOfRange
        case 429: self = .resourceExhausted
        case 499: self = .canceled
        case 500: self = .internal
        case 501: self = .unimplemented
        default: self = RPCCode(inferredFromStatus: status)
        }
    }
}

extension ErrorDetail {
    /// Reads a detail as the JSON of an Any.
    fileprivate init?(json: JSONValue, _ types: KnownTypes?, _ codec: MessageCodec) {
        guard case .object(let members) = json, let url = json["@type"]?.string,
            let name = url.split(separator: "/").last.map(String.init)
        else { return nil }
        if let (type, types) = ErrorDetailTypes.type(named: name, in: types?.set) {
            let others = JSONValue.object(members.filter { $0.name != "@type" })
            let text = (type.hasOwnJSON ? json["value"] ?? .null : others).bytes
            let wire = ByteQueue()
            if (try? codec.appendMessage(ofJSON: text.span, type, types, limit: 1 << 20, to: wire)) != nil {
                self.init(type: name, value: wire.readable.array)
                return
            }
        }
        let base64 = json["value"]?.string.map { Array($0.utf8) } ?? []
        guard !base64.isEmpty, let value = Base64.decode(base64.span) else { return nil }
        self.init(type: name, value: value)
    }
}
