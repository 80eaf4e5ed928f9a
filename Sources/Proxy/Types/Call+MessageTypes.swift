internal import Bytes
public import Documents
internal import HTTP
public import Protocols
public import RPC
internal import Types

/// Messages as JSON, whatever their codec is: that of a message in Protobuf is its ProtoJSON, if its type is known.
extension Call {
    /// The method that the request calls, if its types are known.
    var methodType: MethodType? {
        let request = request
        return generation.types?.set.method(path: request.path)
    }

    /// Whether messages are in Protobuf, of types that Martlet does not know, so that nobody can read them as JSON.
    public var lacksMessageTypes: Bool { codec == .proto && rpcProtocol != .http && methodType == nil }

    /// A message as JSON; none for what is not JSON, and for a message of an unknown type.
    ///
    /// Interceptors ask ``Message/json(_:_:)`` instead, which reads a message once for all of them.
    public func json(_ payload: Span<UInt8>, _ direction: Direction) -> JSONValue? {
        guard codec == .proto, rpcProtocol != .http, let types = generation.types,
            let type = methodType?.type(direction)
        else { return try? JSON.parse(payload) }
        let text = worker.acquireQueue()
        defer { worker.release(text) }
        do throws(MessageError) {
            let limit = callerLeg.listener.heldMessageLimit
            _ = try worker.messageCodec.appendJSON(of: payload, type, types.set, limit: limit, to: text)
        } catch {
            return nil
        }
        return try? JSON.parse(text.readable)
    }

    /// The message that JSON means, in the codec of the call.
    ///
    /// - Throws: an error with the code `unimplemented` if the codec is Protobuf and the type is unknown, and with the code
    ///   `internal` if the type has no place for the JSON.
    public func message(json: Span<UInt8>, _ direction: Direction) throws(RPCError) -> [UInt8] {
        guard codec == .proto, rpcProtocol != .http else { return json.array }
        guard let types = generation.types, let type = methodType?.type(direction) else { throw unknownType }
        let output = worker.acquireQueue()
        defer { worker.release(output) }
        do throws(MessageError) {
            let limit = callerLeg.listener.heldMessageLimit
            try worker.messageCodec.appendMessage(ofJSON: json, type, types.set, limit: limit, to: output)
        } catch {
            throw RPCError(.internal, error.description)
        }
        return output.readable.array
    }

    /// A message with changes, in its codec; fields that its type does not have stay.
    ///
    /// - Parameters:
    ///   - payload: the message.
    ///   - edits: places, and their new values in JSON; none removes what is there.
    ///   - direction: who sends it.
    /// - Returns: the message.
    /// - Throws: an error with the code `unimplemented` for a message whose type is unknown, and with the code `internal` for a
    ///   message that is none, or has no place for a value.
    public func edited(
        _ payload: Span<UInt8>,
        _ edits: [(pointer: JSONPointer, json: [UInt8]?)],
        _ direction: Direction
    ) throws(RPCError) -> [UInt8] {
        guard codec == .proto, rpcProtocol != .http else { return try Self.editedJSON(payload, edits) }
        guard let types = generation.types, let type = methodType?.type(direction) else { throw unknownType }
        let output = worker.acquireQueue()
        defer { worker.release(output) }
        do throws(MessageError) {
            try worker.messageCodec.appendMessage(
                payload,
                changedBy: edits.map { MessageEdit($0.pointer.tokens, json: $0.json) },
                type,
                types.set,
                limit: callerLeg.listener.heldMessageLimit,
                to: output
            )
        } catch {
            throw RPCError(.internal, error.description)
        }
        return output.readable.array
    }

    private static func editedJSON(
        _ payload: Span<UInt8>,
        _ edits: [(pointer: JSONPointer, json: [UInt8]?)]
    ) throws(RPCError) -> [UInt8] {
        guard var value = try? JSON.parse(payload) else { throw RPCError(.internal, "the message is not valid JSON") }
        for (pointer, json) in edits {
            if let json {
                let new = (try? JSON.parse(json)) ?? .null
                guard value.set(pointer, to: new) else {
                    throw RPCError(.internal, "the message has no place for a value")
                }
            } else {
                value.remove(pointer)
            }
        }
        return value.bytes
    }

    private var unknownType: RPCError {
        let request = request
        return RPCError(.unimplemented, "Martlet does not know the types of \(request.path.string)")
    }
}

extension MethodType {
    /// The type of the messages of a direction.
    fileprivate func type(_ direction: Direction) -> MessageType {
        direction == .request ? request : response
    }
}
