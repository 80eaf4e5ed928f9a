internal import Bytes
public import Documents
public import Protocols
internal import Types

/// A message in JSON as conditions and templates see it.
///
/// If the type of the message is known, a field without presence that is not set has its default value, and a name may also be
/// that of the definition.
public struct MessageView: Sendable {
    /// The message as it was read, without default values.
    public let root: JSONValue
    private let isProtoJSON: Bool
    private let type: PlaceType?
    private let types: TypeSet?

    /// Creates a view of JSON of no type.
    ///
    /// - Parameters:
    ///   - root: The JSON.
    ///   - isProtoJSON: Whether the JSON may be ProtoJSON of an unknown type, so that a name may be that of the definition.
    public init(_ root: JSONValue, isProtoJSON: Bool = false) { self.init(root, PlaceType?.none, nil, isProtoJSON) }

    init(_ root: JSONValue, _ type: MessageType?, _ types: TypeSet?) {
        self.init(root, type.map(PlaceType.init), types, false)
    }

    private init(_ root: JSONValue, _ type: PlaceType?, _ types: TypeSet?, _ isProtoJSON: Bool) {
        (self.root, self.type, self.types, self.isProtoJSON) = (root, type, types, isProtoJSON)
    }

    /// Whether the message is the ProtoJSON of a known type.
    public var isTyped: Bool { type != nil }

    /// Returns a view of other JSON of the same type.
    public func with(_ root: JSONValue) -> MessageView { MessageView(root, type, types, isProtoJSON) }

    /// Returns the value in a place, which may be a default value, or nil if no value is there.
    public func value(at pointer: JSONPointer) -> JSONValue? { part(at: pointer)?.json }

    /// Returns the part of the message in a place, or nil if no value is there.
    public func part(at pointer: JSONPointer) -> MessagePart? {
        guard let type else {
            let value = isProtoJSON ? root.valueOfProtoJSON(at: pointer) : root.value(at: pointer)
            return value.map { MessagePart($0) }
        }
        var part = MessagePart(root, type.resolved(for: root, types), types)
        for token in pointer.tokens {
            guard let next = part.child(token) else { return nil }
            part = next
        }
        return part
    }
}

/// A value of a message in JSON, and its type if that is known.
public struct MessagePart: Sendable {
    /// The value.
    public let json: JSONValue
    /// Whether the value is the default one of a field that is not set.
    public let isUnset: Bool
    private let type: PlaceType?
    private let types: TypeSet?

    /// Creates a value of no type.
    public init(_ json: JSONValue) { self.init(json, nil, nil) }

    fileprivate init(_ json: JSONValue, _ type: PlaceType?, _ types: TypeSet?, isUnset: Bool = false) {
        (self.json, self.type, self.types, self.isUnset) = (json, type, types, isUnset)
    }

    /// Returns the member of an object with this name, or the item of an array at this index, or nil if there is none.
    ///
    /// The member of a field without presence that is not set has its default value.
    public func child(_ token: String) -> MessagePart? {
        guard let member = type?.member(named: token) else { return json.child(token).map { item($0) } }
        if let value = json[member.name] { return MessagePart(value, member.type.resolved(for: value, types), types) }
        return member.unsetValue.map { MessagePart($0, member.type, types, isUnset: true) }
    }

    /// Returns a part for an item of the array, or for a value of the map.
    public func item(_ json: JSONValue) -> MessagePart {
        let item = type?.hasMembers == true ? nil : type?.item
        return MessagePart(json, item?.resolved(for: json, types), types)
    }

    /// Whether the value is a message of a known type, whose fields may be missing or have two names.
    public var hasFields: Bool { type?.hasMembers == true }

    /// The names in ProtoJSON of the fields of a message, and those of members that are not fields.
    ///
    /// - Parameter others: The members of another message of the type.
    /// - Returns: The names; none for a value that is not a message of a known type.
    public func names(with others: JSONMembers) -> Set<String> {
        guard let type, case .object(let members) = json else { return [] }
        var names = Set(type.members.map(\.name))
        for list in [members, others] {
            for member in list where type.member(named: member.name) == nil { names.insert(member.name) }
        }
        return names
    }

    /// Returns a part of the same type with other JSON, whose fields may have the names of the definition.
    public func with(_ json: JSONValue) -> MessagePart {
        guard let type, type.hasMembers, case .object(let members) = json else { return MessagePart(json, type, types) }
        let named = members.map { JSONValue.Member(type.member(named: $0.name)?.name ?? $0.name, $0.value) }
        return MessagePart(.object(named), type, types)
    }
}

extension PlaceType {
    /// The type that the JSON of an Any names; this type for anything else.
    fileprivate func resolved(for json: JSONValue, _ types: TypeSet?) -> PlaceType? {
        guard isAny else { return self }
        let name = json["@type"]?.string?.split(separator: "/").last.map(String.init)
        return name.flatMap { types?.message(named: $0) }.flatMap { $0.hasOwnJSON ? nil : PlaceType($0) }
    }
}

extension PlaceType.Member {
    /// The default value of a field without presence.
    fileprivate var unsetValue: JSONValue? { unset.flatMap { try? JSON.parse($0) } }
}

extension Call {
    /// Returns a message in JSON as conditions see it, with the type of the messages of a direction if that is known.
    public func view(of json: JSONValue, _ direction: Direction) -> MessageView {
        MessageView(json, messageType(direction), generation.types?.set)
    }
}

extension Message {
    /// Returns the message as conditions see it, or nil if it is not JSON and its type is not known.
    public func view(_ payload: Span<UInt8>, _ call: Call) -> MessageView? {
        json(payload, call).map { call.view(of: $0, direction) }
    }
}
