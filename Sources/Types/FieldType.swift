internal import Bytes
internal import CUpb

/// A field of a message, or an extension.
@safe
struct FieldType: Sendable {
    /// The types of values, numbered as in FieldDescriptorProto.
    enum Kind: Int32, Sendable {
        case double = 1
        case float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32, enumeration
        case sfixed32, sfixed64, sint32, sint64
    }

    enum Shape: Sendable {
        case single, list, map
    }

    nonisolated(unsafe) let definition: UnsafeRawPointer
    /// The name in the definition.
    let name: String
    /// The name in JSON.
    let jsonName: String
    /// The same two, as a member of an object begins.
    let start: [UInt8]
    let jsonStart: [UInt8]
    let number: UInt32
    /// Where the definition of the message has the field.
    let index: Int
    let kind: Kind
    let shape: Shape
    let hasPresence: Bool
    let isRequired: Bool
    /// What the field is one of, if it is.
    nonisolated(unsafe) let oneof: UnsafeRawPointer?
    /// The type of a message, or of the entries of a map.
    private let below: Unmanaged<MessageType>?
    private nonisolated(unsafe) let enumeration: UnsafeRawPointer?
    /// The full name of the enumeration, if it is one.
    let enumName: String?
    /// Whether its values are of `google.protobuf.NullValue`.
    let isNull: Bool
    /// Whether the enumeration takes no numbers but its own.
    let isClosed: Bool

    init(_ definition: UnsafeRawPointer, _ types: TypeSet) {
        unsafe self.definition = definition
        let isExtension = unsafe martlet_field_is_extension(definition)
        let fullName = unsafe "[" + Text(martlet_field_full_name(definition)).string + "]"
        unsafe name = isExtension ? fullName : Text(martlet_field_name(definition)).string
        unsafe jsonName = isExtension ? fullName : Text(martlet_field_json_name(definition)).string
        start = Self.start(name)
        jsonStart = Self.start(jsonName)
        number = unsafe martlet_field_number(definition)
        index = unsafe martlet_field_index(definition)
        guard let kind = unsafe Kind(rawValue: martlet_field_type(definition)) else {
            fatalError("a field of a type that Protobuf does not have")
        }
        self.kind = kind
        shape =
            unsafe martlet_field_is_map(definition)
            ? .map : unsafe martlet_field_is_repeated(definition) ? .list : .single
        hasPresence = unsafe martlet_field_has_presence(definition)
        isRequired = unsafe martlet_field_is_required(definition)
        unsafe oneof = martlet_field_oneof(definition)
        unsafe below = martlet_field_message(definition).map { unsafe .passUnretained(types.message($0)) }
        let enumeration = unsafe martlet_field_enum(definition)
        unsafe self.enumeration = enumeration
        enumName = unsafe enumeration.map { unsafe Text(martlet_enum_name($0)).string }
        isNull = enumName == "google.protobuf.NullValue"
        isClosed = unsafe enumeration.map { unsafe martlet_enum_is_closed($0) } ?? false
    }

    private static func start(_ name: String) -> [UInt8] {
        let queue = ByteQueue()
        queue.append(json: name)
        queue.append(":")
        return queue.readable.array
    }

    /// The type of a message, or of the entries of a map; the set that has it outlives what uses the field.
    var messageType: MessageType {
        guard let below = unsafe below else { fatalError("not a field of messages") }
        return unsafe below.takeUnretainedValue()
    }

    /// Whether `null` is a value, and not the same as none.
    var takesNull: Bool { isNull || isMessage && messageType.form == .value }

    /// Whether the values are messages, or entries of a map.
    var isMessage: Bool { kind == .message || kind == .group }

    /// The name of a value of the enumeration.
    func name(ofValue number: Int32) -> Text? {
        guard let enumeration = unsafe enumeration else { return nil }
        return unsafe martlet_enum_value_name(enumeration, number).map { unsafe Text($0) }
    }

    /// The number of values that the enumeration defines, which is at least 1; 0 for other kinds.
    var valueCount: Int {
        guard let enumeration = unsafe enumeration else { return 0 }
        return unsafe martlet_enum_value_count(enumeration)
    }

    /// The name of a value of the enumeration, by its place in the definition.
    func valueName(at index: Int) -> Text {
        guard let enumeration = unsafe enumeration, index < valueCount else { fatalError("not a value") }
        return unsafe Text(martlet_enum_value(enumeration, index))
    }

    /// The number of the value of the enumeration with this name.
    func number(ofValue name: Text) -> Int32? {
        guard let enumeration = unsafe enumeration else { return nil }
        var number: Int32 = 0
        let isKnown = unsafe martlet_enum_value_number(enumeration, name.raw.bytes, name.raw.count, &number)
        return isKnown ? number : nil
    }

    /// Whether both are of one oneof.
    func isAlternative(to other: FieldType) -> Bool {
        guard let oneof = unsafe oneof else { return false }
        return unsafe oneof == other.oneof
    }

    /// Whether it is an extension of this type.
    func isExtension(of type: MessageType) -> Bool {
        unsafe martlet_field_owner(definition) == type.definition
    }
}
