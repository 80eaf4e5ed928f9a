internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// What heads and trailers say about the outcome of a call.
extension HTTPHead {
    /// Removes what gRPC says of the outcome, and how a body was encoded that is to be another.
    func removeOutcome() {
        removeOutcomeFields()
        remove(.contentEncoding)
    }

    /// Removes what gRPC says of the outcome, which means nothing in Connect.
    func removeOutcomeFields() {
        remove(.grpcStatus)
        remove(.grpcMessage)
        remove(.grpcStatusDetails)
    }

    /// Adds trailers that have come later, of which the outcome counts.
    func replaceOutcome(by trailers: HTTPHead) {
        removeOutcomeFields()
        for index in 0..<trailers.count { add(name: trailers.name(at: index), value: trailers.value(at: index)) }
    }

    /// Says the outcome as gRPC does.
    func setOutcome(_ error: RPCError?) {
        removeOutcomeFields()
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
        guard case .object(let members)? = JSON.error(in: payload.span)?["metadata"] else { return }
        for member in members {
            guard case .array(let values) = member.value else { continue }
            for case .string(let value) in values {
                add(name: Array(member.name.utf8).span, value: Array(value.utf8).span)
            }
        }
    }
}

extension KnownField {
    /// Whether gRPC says the outcome of a call with it.
    var isOutcome: Bool { self == .grpcStatus || self == .grpcMessage || self == .grpcStatusDetails }
}
