internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// The names of a call as logs and other people may see them.
extension Call {
    /// Whether the value of a header, whose name is in small letters, is masked because of its name.
    ///
    /// Details of errors are messages. Before the route is known, the chain with its redactions is not known either.
    public func hides(_ name: Span<UInt8>) -> Bool {
        !isRouted || redactions.contains(name) || redactions.hasPointers && name.equals("grpc-status-details-bin")
    }

    /// Whether the body of a response with this status is an error, which may repeat parts of the request.
    public func isError(status: Int) -> Bool {
        rpcProtocol == .http ? status >= 400 : rpcProtocol.isUnaryConnect && status != 200
    }

    /// The parameter that has the message of a Connect GET, if parts of messages are masked.
    var hiddenParameter: String? { rpcProtocol == .connectGet && redactions.hasPointers ? "message" : nil }

    /// The path and the query of a request of the call, as they may be shown.
    func shownTarget(_ head: HTTPHead) -> String {
        let target = head.target.array
        let shown = MaskedText.masked(target, .url, parameter: hiddenParameter) ?? target
        return String(decoding: shown, as: UTF8.self)
    }

    /// `pkg.Service/Method`, or the HTTP method and the target without what is named like a credential.
    public var shownName: String {
        String(decoding: MaskedText.masked(fullName, .url) ?? fullName, as: UTF8.self)
    }

    /// The message of the error as logs may show it, in `finished`; only failed calls pay for it.
    public var shownMessage: [UInt8] {
        record.message.isEmpty ? [] : CallMask(self).message(record.message)
    }
}
