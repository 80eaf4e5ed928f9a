internal import Bytes
internal import CUpb

/// The type of a message.
@safe
public final class MessageType: @unchecked Sendable {
    /// How a message is written in JSON.
    enum Form: Sendable {
        case fields
        case any, fieldMask, duration, timestamp, value, list, structure
        /// One of the types with nothing but a value.
        case wrapper
    }

    /// The full name, as `google.protobuf.Timestamp`.
    public let name: String
    let definition: UnsafeRawPointer
    private(set) var form: Form
    /// The fields, by their numbers.
    private(set) var fields: [FieldType] = []
    let hasExtensions: Bool
    /// Whether it is what a map is a list of.
    let isEntry: Bool
    /// The place in `fields` of each field of the definition.
    private var places: [Int] = []

    init(_ definition: UnsafeRawPointer) {
        unsafe self.definition = definition
        name = unsafe Text(martlet_message_name(definition)).string
        hasExtensions = unsafe martlet_message_has_extensions(definition)
        isEntry = unsafe martlet_message_is_entry(definition)
        let wellKnown = unsafe martlet_message_well_known(definition)
        form =
            switch UInt32(bitPattern: wellKnown) {
            case MARTLET_NOT_WELL_KNOWN.rawValue: .fields
            case MARTLET_ANY.rawValue: .any
            case MARTLET_FIELD_MASK.rawValue: .fieldMask
            case MARTLET_DURATION.rawValue: .duration
            case MARTLET_TIMESTAMP.rawValue: .timestamp
            case MARTLET_VALUE.rawValue: .value
            case MARTLET_LIST_VALUE.rawValue: .list
            case MARTLET_STRUCT.rawValue: .structure
            default: .wrapper
            }
    }

    /// Makes the fields, when the types of all messages are there.
    func link(_ types: TypeSet) {
        let count = unsafe martlet_message_field_count(definition)
        fields = (0..<count).map { unsafe FieldType(martlet_message_field(definition, $0), types) }
        fields.sort { $0.number < $1.number }
        places = Array(repeating: 0, count: count)
        for (place, field) in fields.enumerated() { places[field.index] = place }
        checkForm()
    }

    /// A file may give a message the name of a well-known type and other fields: it is then one like any other.
    private func checkForm() {
        let expected: [(FieldType.Kind, FieldType.Shape)] =
            switch form {
            case .fields: []
            case .any: [(.string, .single), (.bytes, .single)]
            case .fieldMask: [(.string, .list)]
            case .duration, .timestamp: [(.int64, .single), (.int32, .single)]
            case .list: [(.message, .list)]
            case .structure: [(.message, .map)]
            case .wrapper: [(fields.first?.kind ?? .group, .single)]
            case .value:
                [.enumeration, .double, .string, .bool, .message, .message].map { ($0, .single) }
            }
        let isAsExpected = zip(fields, expected).allSatisfy { $0.kind == $1.0 && $0.shape == $1.1 }
        let areNumbered = fields.map(\.number) == expected.indices.map { UInt32($0) + 1 }
        let isScalar = form != .wrapper || !(fields.first?.isMessage ?? true)
        let keepsPresence = form != .value || fields.allSatisfy(\.hasPresence)
        if fields.count != expected.count || !isAsExpected || !areNumbered || !isScalar || !keepsPresence {
            form = .fields
        }
    }

    /// The place in `fields` of a field with this name in JSON, or this name.
    func place(of name: Span<UInt8>) -> Int? {
        let found = unsafe name.withUnsafeBytes { bytes in
            unsafe martlet_message_find(
                definition,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                bytes.count
            )
        }
        return unsafe found.map { unsafe places[martlet_field_index($0)] }
    }
}
