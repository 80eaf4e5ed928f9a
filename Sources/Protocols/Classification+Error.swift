internal import Bytes
public import RPC

/// What a server of RPC rejects by the head of a request.
///
/// For the calls that Martlet itself responds to with a message; whether those it forwards are in order is for the upstream
/// to say.
extension Classification {
    /// What is wrong with the head of a request, for a server that speaks JSON and looks into no message; none if nothing
    /// is.
    ///
    /// Plain HTTP that is not meant as RPC is never wrong.
    ///
    /// - Parameters:
    ///   - compression: what the protocol's field for it says; of a GET the query is asked instead.
    ///   - query: the query of the target, without its `?`.
    /// - Returns: what the caller is to be told.
    public func error(compression: Compression, query: Span<UInt8>) -> RPCError? {
        if let malformedRPC { return error(malformedRPC) }
        guard rpcProtocol != .http else { return nil }
        guard codec != .other else { return .unsupportedType("the codec is not supported here; use json") }
        let compression = rpcProtocol == .connectGet ? ConnectQuery(query)?.compression ?? .identity : compression
        guard compression != .unknown else {
            let known = Compression.allCases.filter { $0 != .unknown }
            return .unsupported("the compression is not supported", use: known)
        }
        return nil
    }

    private func error(_ malformedRPC: MalformedRPC) -> RPCError {
        switch malformedRPC {
        case .contentType:
            return .unsupportedType("the content type is not an RPC content type; use for example application/json")
        case .verb(let allowsGet):
            let verbs = allowsGet ? "GET, POST" : "POST"
            var error = RPCError(.unknown, "the method is not allowed; use \(verbs)", httpStatus: 405)
            if rpcProtocol == .http { error.metadata = [("allow", verbs)] }
            return error
        }
    }

}

extension RPCError {
    /// Returns the error of a call whose content type names a protocol or codec that its server does not know.
    ///
    /// The code is the one that callers derive from the status alone.
    public static func unsupportedType(_ message: String) -> RPCError {
        RPCError(.unknown, message, httpStatus: 415)
    }
}
