internal import Bytes
internal import CUpb

/// A message in an arena, good until that is emptied.
@safe
struct Message {
    let pointer: UnsafeMutableRawPointer

    init(_ pointer: UnsafeMutableRawPointer) {
        unsafe self.pointer = pointer
    }

    /// Makes an empty one.
    init(_ type: MessageType, in arena: MessageArena) throws(MessageError) {
        guard let made = unsafe martlet_message_new(type.definition, arena.inside) else { throw .memory }
        unsafe pointer = made
    }

    /// Whether a field with presence is there.
    func has(_ field: FieldType) -> Bool {
        unsafe martlet_message_has(pointer, field.definition)
    }

    /// The value of a field; the default one if it is not there.
    subscript(_ field: FieldType) -> Value {
        unsafe Value(martlet_message_get(pointer, field.definition))
    }

    /// Gives a field a value.
    func set(_ value: Value, _ field: FieldType, in arena: MessageArena) throws(MessageError) {
        guard unsafe martlet_message_set(pointer, field.definition, value.raw, arena.inside) else { throw .memory }
    }

    /// How many fields are there that the type does not have; those of messages within it do not count.
    var unknownFields: Int { unsafe martlet_message_unknown(pointer) }

    /// Lets a field have no value.
    func clear(_ field: FieldType) {
        unsafe martlet_message_clear(pointer, field.definition)
    }

    /// The message, list or map of a field, made if it is not there.
    func make(_ field: FieldType, in arena: MessageArena) throws(MessageError) -> Value {
        guard let made = unsafe martlet_message_make(pointer, field.definition, arena.inside) else { throw .memory }
        return unsafe Value(martlet_value(pointer: made))
    }

    /// The extensions that are there, by their numbers.
    func extensions(_ type: MessageType, _ types: TypeSet) -> [(field: FieldType, value: Value)] {
        var found: [(field: FieldType, value: Value)] = []
        var position = Int(bitPattern: UInt.max)
        var definition: UnsafeRawPointer?
        var value = unsafe martlet_value()
        while unsafe martlet_message_next_extension(
            pointer,
            type.definition,
            types.pool,
            &definition,
            &value,
            &position
        ) {
            if let definition = unsafe definition { unsafe found.append((FieldType(definition, types), Value(value))) }
        }
        return found.sorted { $0.field.number < $1.field.number }
    }
}

/// The values of a repeated field.
@safe
struct List {
    let pointer: UnsafeMutableRawPointer

    init(_ pointer: UnsafeMutableRawPointer) {
        unsafe self.pointer = pointer
    }

    var count: Int { unsafe martlet_array_count(pointer) }

    /// A value.
    ///
    /// - Precondition: the index is less than `count`.
    subscript(_ index: Int) -> Value {
        precondition(index < count)
        return unsafe Value(martlet_array_get(pointer, index))
    }

    /// Gives a place another value.
    func set(_ value: Value, at index: Int) {
        precondition(index < count)
        unsafe martlet_array_set(pointer, index, value.raw)
    }

    /// Removes a value; those behind it move up.
    func remove(at index: Int) {
        precondition(index < count)
        unsafe martlet_array_remove(pointer, index)
    }

    func append(_ value: Value, in arena: MessageArena) throws(MessageError) {
        guard unsafe martlet_array_append(pointer, value.raw, arena.inside) else { throw .memory }
    }
}

/// The entries of a map.
@safe
struct Map {
    let pointer: UnsafeMutableRawPointer

    init(_ pointer: UnsafeMutableRawPointer) {
        unsafe self.pointer = pointer
    }

    var count: Int { unsafe martlet_map_count(pointer) }

    /// The value of a key, if there is one.
    subscript(_ key: Value) -> Value? {
        var value = unsafe martlet_value()
        return unsafe martlet_map_get(pointer, key.raw, &value) ? Value(value) : nil
    }

    func remove(_ key: Value) {
        unsafe martlet_map_remove(pointer, key.raw)
    }

    func insert(_ value: Value, for key: Value, in arena: MessageArena) throws(MessageError) {
        guard unsafe martlet_map_insert(pointer, key.raw, value.raw, arena.inside) else { throw .memory }
    }

    /// The entries by their keys: numbers by their values, text by its bytes.
    func sorted(by field: FieldType) -> [(key: Value, value: Value)] {
        var entries: [(key: Value, value: Value)] = []
        entries.reserveCapacity(count)
        var position = Int(bitPattern: UInt.max)
        var (key, value) = unsafe (martlet_value(), martlet_value())
        while unsafe martlet_map_next(pointer, &key, &value, &position) {
            unsafe entries.append((Value(key), Value(value)))
        }
        return entries.sorted { $0.key.comes(before: $1.key, field) }
    }
}
