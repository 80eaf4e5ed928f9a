internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// How a response went, as far as it tells, or as was decided here.
struct Outcome {
    /// The code.
    let code: RPCCode
    /// What was said about it, for people.
    let message: [UInt8]
    /// The error, where it was made here.
    private let own: RPCError?
    /// The error as Connect writes it, where it came like that.
    let json: JSONValue?

    /// The outcome that was decided here; success without an error.
    init(_ error: RPCError?) {
        var plain = error
        // A response that is made of it has that already.
        plain?.metadata = []
        self.init(code: error?.code ?? .ok, message: error.map { Array($0.message.utf8) } ?? [], own: plain)
    }

    /// The outcome of a response that was made here and is not told as an error.
    init(code: RPCCode) {
        self.init(code: code, message: [])
    }

    private init(code: RPCCode, message: [UInt8], own: RPCError? = nil, json: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.own = own
        self.json = json
    }

    /// The outcome that is concluded from a response; Connect's JSON is read for it.
    init(_ conclusion: Conclusion) {
        switch conclusion {
        case .code(let code, let message): self.init(code: code, message: message)
        case .json(let bytes, _, let isEndStream):
            let body = JSON.error(in: bytes.span)
            guard let error = isEndStream ? body?.pointer("/error") : body, error != .null else {
                // Only the end of a stream says by its silence that all went well.
                let isSuccess = isEndStream && body != nil
                self.init(code: isSuccess ? .ok : conclusion.code(fromName: nil), message: [])
                return
            }
            let name = error.pointer("/code")?.string.map { Array($0.utf8) }
            self.init(
                code: name.map { conclusion.code(fromName: $0.span) } ?? conclusion.code(fromName: nil),
                message: error.pointer("/message")?.string.map { Array($0.utf8) } ?? [],
                json: error
            )
        }
    }

    /// Whether it is an error that was made here.
    var isError: Bool { own != nil }

    /// The error with all that is known of it; none for success.
    ///
    /// Details in gRPC stand in the trailers.
    func error(trailers: HTTPHead) -> RPCError? {
        if let own { return own }
        guard code != .ok else { return nil }
        return RPCError(code, String(decoding: message, as: UTF8.self), details: details(trailers))
    }

    private func details(_ trailers: HTTPHead) -> [ErrorDetail] {
        if let json {
            guard case .array(let items)? = json["details"] else { return [] }
            return items.compactMap { item in
                guard let type = item["type"]?.string, let text = item["value"]?.string else { return nil }
                return Base64.decode(Array(text.utf8).span).map { ErrorDetail(type: type, value: $0) }
            }
        }
        guard let index = trailers.first(.grpcStatusDetails) else { return [] }
        return ErrorDetail.details(grpcStatusDetails: trailers.value(at: index)) ?? []
    }
}
