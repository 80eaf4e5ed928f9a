internal import Bytes
public import Documents
internal import HTTP
public import Protocols
public import RPC
internal import Telemetry
internal import Types

/// Messages as JSON, whatever their codec is: that of a message in Protobuf is its ProtoJSON, if its type is known.
extension Call {
    /// The method that the request calls, if its types are known.
    var methodType: MethodType? {
        guard let types = generation.types else { return nil }
        let request = request
        if let method = types.set.method(path: request.path) { return method }
        if types.hasReflected, rpcProtocol != .http { worker.noteUnknownMethod() }
        return nil
    }

    /// What the caller is told if the method is unknown because reflection has not brought its types yet.
    public var missingTypes: RPCError? {
        guard let types = generation.types, let upstream = types.missing, methodType == nil else { return nil }
        return RPCError(.unavailable, "the types of \(upstream) are not known yet")
    }

    /// What the caller is told about a path that may be one of those that reflection has not brought yet.
    var missingRESTPaths: RPCError? {
        guard rpcProtocol == .http, let types = generation.types, types.awaitsPaths else { return nil }
        return types.missing.map { RPCError(.unavailable, "the types of \($0) are not known yet") }
    }

    /// Whether the type of the method says that a call changes nothing (`NO_SIDE_EFFECTS`).
    public var hasNoSideEffects: Bool { methodType?.hasNoSideEffects == true }

    /// Whether the method is known to have streams of messages.
    public var isKnownToStream: Bool { methodType?.streams == true }

    /// Whether the types of the method say that its response consists of one message.
    public var hasUnaryResponse: Bool { methodType?.responseStreams == false }

    /// Whether messages are in Protobuf, of types that Martlet does not know.
    public var lacksMessageTypes: Bool { codec == .proto && rpcProtocol != .http && methodType == nil }
    /// Whether messages are of types that Martlet knows.
    public var hasMessageTypes: Bool { codec != .other && rpcProtocol != .http && methodType != nil }

    /// A message as JSON; none for what is not JSON.
    ///
    /// If the type is known, each field is there once, by its name in ProtoJSON and in the form that this has for its value, however
    /// the sender writes it: a rule and the upstream read the same. Interceptors ask ``Message/json(_:_:)`` instead, which reads a
    /// message once for all of them.
    public func json(_ payload: Span<UInt8>, _ direction: Direction) -> JSONValue? {
        var flaw: MessageFlaw?
        return json(payload, direction, &flaw)
    }

    /// Returns a message as JSON; `flaw` becomes the reason if it is not valid for its type, or takes too much memory.
    public func json(_ payload: Span<UInt8>, _ direction: Direction, _ flaw: inout MessageFlaw?) -> JSONValue? {
        let reading = reading(direction)
        guard reading.typed != nil else { return parsed(payload, &flaw) }
        let (message, text) = (worker.acquireQueue(), worker.acquireQueue())
        defer {
            worker.release(message)
            worker.release(text)
        }
        let worker = worker
        let read = reading.read(payload, worker.messageCodec, (message, text)) { json throws(JSONError) in
            try worker.parsed(json)
        }
        if let found = read.flaw { flaw = found }
        return read.value
    }

    /// The way in which messages of a direction are read as JSON.
    func reading(_ direction: Direction) -> MessageReading {
        guard let types = generation.types, let type = messageType(direction) else { return MessageReading(typed: nil) }
        let typed = MessageReading.Typed(
            type: type,
            types: types.set,
            isJSON: codec == .json,
            // What its type does not have, a request may not have either; a response is of a newer version then.
            dropsUnknown: types.dropsUnknown || direction == .response,
            limit: callerLeg.listener.heldMessageLimit
        )
        return MessageReading(typed: typed)
    }

    /// Reads JSON, which counts for `limits.memory` as long as it is held; `flaw` becomes the reason if that takes too much memory.
    public func parsed(_ json: Span<UInt8>, _ flaw: inout MessageFlaw?) -> JSONValue? {
        do throws(JSONError) {
            return try parsed(json)
        } catch {
            if error.isTooLarge { flaw = MessageFlaw(error) }
            return nil
        }
    }

    /// Reads JSON, which counts for `limits.memory` as long as it is held.
    ///
    /// - Throws: An error for what is not JSON, or takes too much memory.
    public func parsed(_ json: Span<UInt8>) throws(JSONError) -> JSONValue {
        try worker.parsed(json)
    }

    /// The type of the messages of a direction, if it is known and they are in a codec of Protobuf.
    func messageType(_ direction: Direction) -> MessageType? {
        guard rpcProtocol != .http, codec != .other else { return nil }
        return methodType?.type(direction)
    }

    /// The message that JSON means, in the codec of the call.
    ///
    /// - Parameters:
    ///   - json: the JSON.
    ///   - direction: who sends the message.
    ///   - dropsUnknown: whether members that the type does not have are left out, and not an error.
    /// - Returns: the message.
    /// - Throws: an error with the code `unimplemented` if the codec is Protobuf and the type is unknown, or with the code
    ///   `unavailable` if it is not known yet, and with the code `internal` if the type has no place for the JSON.
    public func message(
        json: Span<UInt8>,
        _ direction: Direction,
        dropsUnknown: Bool = false
    ) throws(RPCError) -> [UInt8] {
        guard codec == .proto, rpcProtocol != .http else { return json.array }
        guard let types = generation.types, let type = methodType?.type(direction) else { throw unknownType }
        return try serialized(json, type, types.set, dropsUnknown: dropsUnknown)
    }

    /// The same, and JSON as it is written of the type, if that is known: what a server in Protobuf sends.
    ///
    /// No JSON at all is the empty message.
    ///
    /// - Throws: the same errors.
    public func typedMessage(
        json: Span<UInt8>,
        _ direction: Direction,
        dropsUnknown: Bool = false
    ) throws(RPCError) -> [UInt8] {
        guard codec == .json, let types = generation.types, let type = messageType(direction) else {
            return try message(json: json, direction, dropsUnknown: dropsUnknown)
        }
        let text = worker.acquireQueue()
        defer { worker.release(text) }
        do throws(MessageError) {
            try worker.messageCodec.appendJSON(
                merging: json,
                type,
                types.set,
                types.form,
                dropsUnknown: dropsUnknown,
                limit: callerLeg.listener.heldMessageLimit,
                to: text
            )
        } catch {
            throw RPCError(.internal, error.description)
        }
        return text.readable.array
    }

    /// Returns the empty message, in the codec of the call.
    ///
    /// - Throws: an error with the code `internal` for a type that requires a field.
    public func emptyMessage(_ direction: Direction) throws(RPCError) -> [UInt8] {
        if codec == .proto { return [] }
        return messageType(direction) == nil ? Array("{}".utf8) : try typedMessage(json: Span(), direction)
    }

    /// The serialized message of a type that JSON means.
    ///
    /// The types of `google.rpc` that details have are always known.
    ///
    /// - Throws: an error with the code `internal` if the type is unknown, or has no place for the JSON.
    public func message(json: Span<UInt8>, ofType name: String) throws(RPCError) -> [UInt8] {
        guard let (type, types) = ErrorDetailTypes.type(named: name, in: generation.types?.set) else {
            throw RPCError(.internal, "Martlet does not know the type \(name)")
        }
        return try serialized(json, type, types)
    }

    /// A message of the type that a direction has, with values by `chance`, which returns numbers from 0 up to 1.
    ///
    /// - Throws: an error with the code `unimplemented` if the type is unknown, or with the code `unavailable` if it is not
    ///   known yet.
    public func fakeMessage(_ direction: Direction, _ chance: @escaping () -> Double) throws(RPCError) -> [UInt8] {
        guard rpcProtocol != .http, let type = methodType?.type(direction) else { throw unknownType }
        let json = worker.acquireQueue()
        defer { worker.release(json) }
        FakeMessage(chance).append(type, to: json)
        return try typedMessage(json: json.readable, direction)
    }

    private func serialized(
        _ json: Span<UInt8>,
        _ type: MessageType,
        _ types: TypeSet,
        dropsUnknown: Bool = false
    ) throws(RPCError) -> [UInt8] {
        let output = worker.acquireQueue()
        defer { worker.release(output) }
        do throws(MessageError) {
            let limit = callerLeg.listener.heldMessageLimit
            try worker.messageCodec.appendMessage(
                ofJSON: json,
                type,
                types,
                dropsUnknown: dropsUnknown,
                limit: limit,
                to: output
            )
        } catch {
            throw RPCError(.internal, error.description)
        }
        return output.readable.array
    }

    /// A message with changes, in its codec; fields that its type does not have stay.
    ///
    /// - Parameters:
    ///   - payload: the message, as the hook has got it.
    ///   - edits: places, and their new values in JSON; none removes what is there.
    ///   - message: what becomes of it.
    /// - Returns: the message.
    /// - Throws: an error with the code `unimplemented` for a message whose type is unknown, or with the code `unavailable` if
    ///   it is not known yet, and with the code `internal` for a message that is none, or has no place for a value.
    public func edited(
        _ payload: Span<UInt8>,
        _ edits: [(pointer: JSONPointer, json: [UInt8]?)],
        _ message: Message
    ) throws(RPCError) -> [UInt8] {
        let direction = message.direction
        guard let types = generation.types, let type = messageType(direction) else {
            guard codec != .proto || rpcProtocol == .http else { throw unknownType }
            return try editedJSON(payload, edits, message)
        }
        let (message, output) = (worker.acquireQueue(), worker.acquireQueue())
        defer {
            worker.release(message)
            worker.release(output)
        }
        do throws(MessageError) {
            let changes = edits.map { MessageEdit($0.pointer.tokens, json: $0.json) }
            let (codec, limit) = (worker.messageCodec, callerLeg.listener.heldMessageLimit)
            guard self.codec == .json else {
                try codec.appendMessage(payload, changedBy: changes, type, types.set, limit: limit, to: output)
                return output.readable.array
            }
            let dropsUnknown = types.dropsUnknown && direction == .request
            try codec.appendMessage(
                ofJSON: payload,
                type,
                types.set,
                dropsUnknown: dropsUnknown,
                limit: limit,
                to: message
            )
            if let methodType { types.unknownFields.count(of: methodType, direction, worker) }
            try codec.appendMessage(message.readable, changedBy: changes, type, types.set, limit: limit, to: output)
            message.removeAll()
            try codec.appendJSON(of: output.readable, type, types.set, types.form, limit: limit, to: message)
        } catch {
            throw RPCError(error.reason == .tooLarge ? .resourceExhausted : .internal, error.description)
        }
        return message.readable.array
    }

    private func editedJSON(
        _ payload: Span<UInt8>,
        _ edits: [(pointer: JSONPointer, json: [UInt8]?)],
        _ message: Message
    ) throws(RPCError) -> [UInt8] {
        guard var value = message.json(payload, self) else {
            if let flaw = message.flaw { throw RPCError(flaw.code, "the message cannot be read: \(flaw.text)") }
            throw RPCError(.internal, "the message is not valid JSON")
        }
        // The changed message takes as much again.
        guard value.heldBytes <= worker.context.memory.messageRoom else {
            worker.counters.limitHit(.memory)
            throw RPCError(.resourceExhausted, "the changed message takes more memory than limits.memory has left")
        }
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
        if let missingTypes { return missingTypes }
        let request = request
        return RPCError(.unimplemented, "Martlet does not know the types of \(request.path.string)")
    }
}

extension MethodType {
    /// The type of the messages of a direction.
    func type(_ direction: Direction) -> MessageType {
        direction == .request ? request : response
    }
}
