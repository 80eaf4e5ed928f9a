internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// What heads and trailers say about the outcome of a call.
extension HTTPHead {
    private static let outcome = ["grpc-status", "grpc-message", "grpc-status-details-bin"].map { FieldName($0) }
    private static let encoding = FieldName("content-encoding")

    /// Removes what gRPC says of the outcome, and how a body was encoded that is to be another.
    func removeOutcome() {
        removeOutcomeFields()
        remove(Self.encoding)
    }

    /// Removes what gRPC says of the outcome, which means nothing in Connect.
    func removeOutcomeFields() {
        for name in Self.outcome { remove(name) }
    }

    /// Says the outcome as gRPC does.
    func setOutcome(_ error: RPCError?) {
        for name in Self.outcome { remove(name) }
        for (name, value) in CallerSide.grpcFields(error) { add(name: name.span, value: value.span) }
    }

    /// The fields, in their order.
    var pairs: [(name: [UInt8], value: [UInt8])] {
        (0..<count).map { (name(at: $0).array, value(at: $0).array) }
    }

    /// Adds the trailers that stand in the frame that ends a body.
    func add(endFrame payload: [UInt8], of rpcProtocol: RPCProtocol) {
        guard rpcProtocol == .connectStream else {
            for (name, value) in TrailerLines.fields(of: payload.span) { add(name: name.span, value: value.span) }
            return
        }
        guard case .object(let members)? = (try? JSON.parse(payload.span))?["metadata"] else { return }
        for member in members {
            guard case .array(let values) = member.value else { continue }
            for case .string(let value) in values {
                add(name: Array(member.name.utf8).span, value: Array(value.utf8).span)
            }
        }
    }
}
