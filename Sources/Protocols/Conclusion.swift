internal import Bytes
public import RPC

/// How a call went, as far as the upstream's response tells.
public enum Conclusion: Equatable, Sendable {
    /// The code is known; the message, decoded and perhaps empty, is what came with it.
    case code(RPCCode, message: [UInt8] = [])
    /// The code is in JSON: the member `code` of the object itself, or of the object's member `error` at the end of a
    /// stream, where an `error` that is absent or null means `ok`.
    case json([UInt8], fallback: RPCCode, isEndStream: Bool)

    /// What the frame says that ends the body of a response in gRPC-Web or a Connect stream; `content` is decompressed.
    public init(endFrame content: [UInt8], of rpcProtocol: RPCProtocol) {
        if rpcProtocol == .connectStream {
            self = .json(content, fallback: .unknown, isEndStream: true)
        } else if let status = GRPCStatus(lines: content.span) {
            self = .code(status.code, message: status.message)
        } else {
            self = .code(.unknown)
        }
    }

    /// The code of an error whose JSON names `name`; the fallback if it names none, or none that there is.
    ///
    /// A code that was known before stays.
    public func code(fromName name: Span<UInt8>?) -> RPCCode {
        switch self {
        case .code(let code, _): return code
        case .json(_, let fallback, _):
            guard let name, let code = RPCCode(name: name), code != .ok else { return fallback }
            return code
        }
    }
}
