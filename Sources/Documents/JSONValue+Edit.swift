internal import Bytes

extension JSONValue {
    /// Puts another value in a place, if there is one; a `*` on the way stands for each item and each member, and a name also for
    /// that in ProtoJSON.
    public mutating func replace(_ pointer: JSONPointer, by value: JSONValue) { replace([pointer], by: value) }

    /// Puts another value in several places, as far as there are some.
    public mutating func replace(_ pointers: [JSONPointer], by value: JSONValue) {
        // Most messages have no such place, and stay.
        var isFound = false
        for pointer in pointers where !isFound { visit(pointer) { _ in isFound = true } }
        guard isFound else { return }
        let paths = pointers.map { JSONEditor.Path(names: $0.tokens[...], others: $0.protoTokens[...]) }
        _ = edit(.replace(value.bytes), paths)
    }

    /// Sets the value in a place, and makes the objects on the way that are missing; a list has no new places.
    ///
    /// - Returns: whether the place could be made.
    @discardableResult
    public mutating func set(_ pointer: JSONPointer, to value: JSONValue) -> Bool {
        edit(.set(value.bytes), [JSONEditor.Path(names: pointer.tokens[...], others: pointer.tokens[...])])
    }

    /// Removes the value in a place, if there is one; a `*` on the way stands for each item and each member.
    public mutating func remove(_ pointer: JSONPointer) {
        guard !pointer.tokens.isEmpty else { return }
        _ = edit(.remove, [JSONEditor.Path(names: pointer.tokens[...], others: pointer.tokens[...])])
    }

    /// The same in ProtoJSON, where a field may also be named as its definition does.
    public mutating func removeOfProtoJSON(_ pointer: JSONPointer) {
        guard !pointer.tokens.isEmpty else { return }
        _ = edit(.remove, [JSONEditor.Path(names: pointer.tokens[...], others: pointer.protoTokens[...])])
    }

    /// Returns the value with other names and scalars.
    ///
    /// - Parameters:
    ///   - name: Returns what a name becomes, or `nil` to give up.
    ///   - scalar: Returns what a value that is neither array nor object becomes, or `nil` to give up.
    /// - Returns: The value, or `nil` if a closure gives up, or an object would have a name twice.
    public func mapped(name: (String) -> String?, scalar: (JSONValue) -> JSONValue?) -> JSONValue? {
        let queue = ByteQueue()
        guard append(to: queue, name, scalar) else { return nil }
        return JSON.document(of: queue.readable.array, source?.document.meter)?.value(at: 0)
    }

    private func append(to queue: ByteQueue, _ name: (String) -> String?, _ scalar: (JSONValue) -> JSONValue?) -> Bool {
        var isFirst = true
        switch self {
        case .array(let items):
            queue.append("[")
            for item in items {
                if !isFirst { queue.append(",") }
                isFirst = false
                guard item.append(to: queue, name, scalar) else { return false }
            }
            queue.append("]")
        case .object(let members):
            queue.append("{")
            for member in members {
                if !isFirst { queue.append(",") }
                isFirst = false
                guard let changed = name(member.name) else { return false }
                queue.append(json: changed)
                queue.append(":")
                guard member.value.append(to: queue, name, scalar) else { return false }
            }
            queue.append("}")
        default:
            guard let value = scalar(self) else { return false }
            queue.append(value)
        }
        return true
    }

    private mutating func edit(_ action: JSONEditor.Action, _ paths: [JSONEditor.Path]) -> Bool {
        let queue = ByteQueue()
        guard let source = source ?? JSON.document(of: bytes).map({ JSONSource($0, 0) }) else { return false }
        let meter = source.document.meter
        var editor = JSONEditor(action, of: source.document, to: queue)
        editor.write(source.index, paths)
        self = JSON.document(of: queue.readable.array, meter)?.value(at: 0) ?? .null
        return editor.isSet
    }
}
