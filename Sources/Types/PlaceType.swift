internal import Bytes

/// The type of the value in a place of a message's ProtoJSON.
public struct PlaceType: Sendable {
    private enum Content: Sendable {
        case message(MessageType)
        case single(FieldType)
        case list(FieldType)
        case map(FieldType)
    }

    /// A field of a message, and its JSON.
    public struct Member: Sendable {
        /// The name in ProtoJSON.
        public let name: String
        /// The type of the value.
        public let type: PlaceType
        /// The JSON of a field that is not set: its default value, or nil if the field has presence.
        public let unset: [UInt8]?

        fileprivate init(_ field: FieldType) {
            name = field.jsonName
            type = PlaceType(field)
            let isNull = field.isNull && field.shape == .single
            unset = field.hasPresence ? nil : isNull ? Array("null".utf8) : field.absentJSON
        }
    }

    private let content: Content

    /// The type of a whole message.
    public init(_ type: MessageType) { content = .message(type) }

    private init(_ field: FieldType) {
        content =
            switch field.shape {
            case .single: Self.value(of: field)
            case .list: .list(field)
            case .map: .map(field)
            }
    }

    private static func value(of field: FieldType) -> Content {
        field.isMessage ? .message(field.messageType) : .single(field)
    }

    private var message: MessageType? {
        guard case .message(let type) = content, type.form == .fields else { return nil }
        return type
    }

    /// Whether the value is a message whose JSON is an object with its fields.
    public var hasMembers: Bool { message != nil }

    /// Whether the value is a `google.protobuf.Any`, whose own JSON names its type.
    public var isAny: Bool {
        guard case .message(let type) = content else { return false }
        return type.form == .any
    }

    /// The fields of a message; none for anything else.
    public var members: [Member] { message?.fields.map(Member.init) ?? [] }

    /// Returns the field of a message with this name in JSON or in the definition, or nil if there is none.
    public func member(named name: String) -> Member? {
        guard let message else { return nil }
        let bytes = Array(name.utf8)
        return message.place(of: bytes.span).map { Member(message.fields[$0]) }
    }

    /// The type of each item of a list and of each value of a map; nil for anything else.
    public var item: PlaceType? {
        switch content {
        case .list(let field): PlaceType(Self.value(of: field))
        case .map(let field): PlaceType(Self.value(of: field.messageType.fields[1]))
        case .message, .single: nil
        }
    }

    private init(_ content: Content) { self.content = content }
}
