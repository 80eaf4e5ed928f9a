internal import Bytes

/// Values from JSON that are neither messages nor lists.
enum JSONScalar {
    /// The name of a field's type, as a definition has it.
    static func name(of field: FieldType) -> String {
        switch field.kind {
        case .enumeration: field.enumName ?? "enum"
        case .message, .group: field.messageType.name
        default: "\(field.kind)"
        }
    }

    /// The value of a number, or of a string that has one.
    static func number(_ text: Text, _ field: FieldType, isQuoted: Bool) throws(MessageError) -> Value {
        let bytes = text.bytes
        if isQuoted, let special = special(bytes) {
            if field.kind == .double { return Value(double: special) }
            if field.kind == .float { return Value(float: Float(special)) }
        }
        if !isQuoted || bytes.count > 0 && JSONNumberText.length(bytes) == bytes.count {
            if let value = value(bytes, field) { return value }
            let isFloat = field.kind == .double || field.kind == .float
            let hasFraction = !isFloat && bytes.firstIndex(of: UInt8(ascii: ".")) != nil
            let problem = hasFraction ? "not a value of the type" : "out of the range of"
            throw MessageError("\(text.shown) is \(problem) \(name(of: field))")
        }
        throw MessageError("\"\(text.shown)\" is not a value of the type \(name(of: field))")
    }

    private static func special(_ text: Span<UInt8>) -> Double? {
        text.equals("NaN") ? .nan : text.equals("Infinity") ? .infinity : text.equals("-Infinity") ? -.infinity : nil
    }

    private static func value(_ number: Span<UInt8>, _ field: FieldType) -> Value? {
        switch field.kind {
        case .double: JSONNumberText.double(number).map { Value(double: $0) }
        case .float: JSONNumberText.float(number).map { Value(float: $0) }
        case .int64, .sint64, .sfixed64: JSONNumberText.integer(number).map { Value(int64: $0) }
        case .uint64, .fixed64: JSONNumberText.integer(number).map { Value(uint64: $0) }
        case .uint32, .fixed32: JSONNumberText.integer(number).map { Value(uint32: $0) }
        case .enumeration: enumeration(number, field).map { Value(int32: $0) }
        default: JSONNumberText.integer(number).map { Value(int32: $0) }
        }
    }

    /// The number of a value; an enumeration that is closed has no others than its own.
    private static func enumeration(_ number: Span<UInt8>, _ field: FieldType) -> Int32? {
        guard let value: Int32 = JSONNumberText.integer(number) else { return nil }
        return field.isClosed && field.name(ofValue: value) == nil ? nil : value
    }

    /// The key of a map.
    static func key(_ name: Text, _ field: FieldType) throws(MessageError) -> Value {
        switch field.kind {
        case .string: return Value(text: name)
        case .bool:
            let bytes = name.bytes
            if bytes.equals("true") { return Value(bool: true) }
            if bytes.equals("false") { return Value(bool: false) }
            throw MessageError("\"\(name.shown)\" is not a value of the type bool")
        default: return try number(name, field, isQuoted: true)
        }
    }
}
