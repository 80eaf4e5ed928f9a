internal import Bytes

/// A field of a message, or of a message within it.
public struct FieldPath: Sendable {
    /// How the text of a parameter is written in JSON.
    public enum Form: Sendable {
        /// As a string, which numbers may be as well.
        case string
        /// As `true` or `false`.
        case bool
        /// As a string or a number.
        case enumeration
    }

    /// The names on the way: that in JSON, and that of the definition.
    public let steps: [(json: String, name: String)]
    /// The steps to the well-known type with a JSON form of its own that the field is a part of, as `seconds` of a Timestamp; none
    /// if JSON has a place for the field.
    public let stepsToWhole: Int?
    /// Whether the field is a list.
    public let isList: Bool
    /// How its text, or that of one element, is written in JSON; none for maps and messages that are no single value.
    public let form: Form?
    /// Whether it is one message, whose JSON is an object with its fields.
    public let hasFields: Bool
    /// Whether it is a message of the type `google.api.HttpBody`.
    public let isHTTPBody: Bool
    /// What JSON has where the field is not there.
    public let absent: [UInt8]

    init(_ fields: [FieldType]) {
        steps = fields.map { ($0.jsonName, $0.name) }
        stepsToWhole = fields.dropLast().firstIndex { $0.messageType.hasOwnJSON }.map { $0 + 1 }
        let last = fields[fields.count - 1]
        isList = last.shape == .list
        form = last.shape == .map ? nil : Form(last)
        hasFields = last.shape == .single && last.isMessage && last.messageType.form == .fields
        isHTTPBody = last.shape == .single && last.isMessage && last.messageType.isHTTPBody
        absent = last.absentJSON
    }
}

extension FieldPath.Form {
    fileprivate init?(_ field: FieldType) {
        switch field.kind {
        case .bool: self = .bool
        case .enumeration: self = .enumeration
        case .group: return nil
        case .message:
            switch field.messageType.form {
            case .fieldMask, .duration, .timestamp: self = .string
            case .wrapper: self.init(field.messageType.fields[0])
            case .fields, .any, .value, .list, .structure: return nil
            }
        default: self = .string
        }
    }
}

extension FieldType {
    /// What JSON has where the field is not there.
    var absentJSON: [UInt8] {
        let text: String =
            switch shape {
            case .list: "[]"
            case .map: "{}"
            case .single:
                switch kind {
                case .message, .group: messageType.form == .fields ? "{}" : "null"
                case .string, .bytes: "\"\""
                case .bool: "false"
                case .int64, .uint64, .fixed64, .sfixed64, .sint64: "\"0\""
                case .enumeration: name(ofValue: 0).map { "\"\($0.string)\"" } ?? "0"
                default: "0"
                }
            }
        return Array(text.utf8)
    }
}

extension MessageType {
    /// Whether its JSON has a form of its own, and is no object with its fields.
    public var hasOwnJSON: Bool { form != .fields }

    /// Whether it is a body of any content type (`google/api/httpbody.proto`).
    public var isHTTPBody: Bool { name == "google.api.HttpBody" }

    /// The field to which these names lead, each that in JSON or that of the definition; none if there is no such field.
    ///
    /// The value of a wrapper is the field that has the wrapper: JSON has no other name for it.
    public func fieldPath(_ names: [String]) -> FieldPath? {
        guard names.count <= MessageError.maxDepth else { return nil }
        var (type, fields) = (self, [FieldType]())
        for (index, name) in names.enumerated() {
            if let last = fields.last {
                guard last.shape == .single, last.isMessage else { return nil }
                type = last.messageType
            }
            let bytes = Array(name.utf8)
            guard let place = type.place(of: bytes.span) else { return nil }
            if type.form == .wrapper, !fields.isEmpty, index == names.count - 1 { break }
            fields.append(type.fields[place])
        }
        return fields.isEmpty ? nil : FieldPath(fields)
    }
}
