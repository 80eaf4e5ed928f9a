internal import Bytes

/// A JSON Pointer (RFC 6901): a place in a JSON value, such as `/a/b`; the empty one names the whole.
public struct JSONPointer: Equatable, Sendable {
    /// The names and indices on the way, without their escapes.
    public let tokens: [String]
    /// The same as ProtoJSON names fields that are called so in a definition: `card_number` is `cardNumber`.
    public let protoTokens: [String]

    /// Reads a pointer; none if the text is neither empty nor begins with `/`.
    public init?(_ text: String) {
        // Scalars: a slash before a combining mark is one still.
        let scalars = text.unicodeScalars
        guard scalars.isEmpty || scalars.first == "/" else { return nil }
        tokens = scalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(Self.unescape)
        protoTokens = tokens.map(Self.lowerCamelCase)
    }

    /// A name without its underscores, and with a capital behind each.
    private static func lowerCamelCase(_ name: String) -> String {
        var (result, isBehind) = (String.UnicodeScalarView(), false)
        for scalar in name.unicodeScalars {
            let isCapital = isBehind && "a"..."z" ~= scalar
            isBehind = scalar == "_"
            if !isBehind { result.append(isCapital ? Unicode.Scalar(UInt8(scalar.value) - 32) : scalar) }
        }
        return String(result)
    }

    /// Turns `~1` into `/` and `~0` into `~`.
    private static func unescape(_ token: Substring.UnicodeScalarView) -> String {
        var plain = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in token {
            if isEscaped {
                plain.append(scalar == "1" ? "/" : scalar == "0" ? "~" : scalar)
            } else if scalar != "~" {
                plain.append(scalar)
            }
            isEscaped = !isEscaped && scalar == "~"
        }
        return String(plain)
    }
}

extension JSONValue {
    /// The value in a place, if there is one.
    public func value(at pointer: JSONPointer) -> JSONValue? {
        pointer.tokens.reduce(self) { value, token in value?.child(token) }
    }

    /// The value in a place of ProtoJSON, where a field may also be named as its definition does.
    public func valueOfProtoJSON(at pointer: JSONPointer) -> JSONValue? {
        zip(pointer.tokens, pointer.protoTokens).reduce(self) { value, names in
            value?.child(names.0) ?? value?.child(names.1)
        }
    }

    /// Puts another value in a place, if there is one; a `*` on the way stands for each item and each member, and a name also for
    /// that in ProtoJSON.
    public mutating func replace(_ pointer: JSONPointer, by value: JSONValue) {
        replace(pointer.tokens[...], pointer.protoTokens[...], by: value)
    }

    /// Returns the values that `replace` would replace.
    public func values(at pointer: JSONPointer) -> [JSONValue] {
        zip(pointer.tokens, pointer.protoTokens).reduce([self]) { values, names in
            values.flatMap { $0.children(names.0, or: names.1) }
        }
    }

    private func children(_ token: String, or other: String) -> [JSONValue] {
        switch self {
        case .array(let items): Array(items[items.places(of: token)])
        case .object(let members):
            members.filter { token == "*" || token.isSame(as: $0.name) || other.isSame(as: $0.name) }.map(\.value)
        case .null, .bool, .integer, .number, .string: []
        }
    }

    private mutating func replace(_ tokens: ArraySlice<String>, _ others: ArraySlice<String>, by value: JSONValue) {
        guard let token = tokens.first, let other = others.first else {
            self = value
            return
        }
        let (rest, otherRest) = (tokens.dropFirst(), others.dropFirst())
        switch self {
        case .array(var items):
            for index in items.places(of: token) {
                items[index].replace(rest, otherRest, by: value)
            }
            self = .array(items)
        case .object(var members):
            for index in members.indices {
                let name = members[index].name
                guard token == "*" || token.isSame(as: name) || other.isSame(as: name) else { continue }
                members[index].value.replace(rest, otherRest, by: value)
            }
            self = .object(members)
        default: return
        }
    }

    /// Sets the value in a place, and makes the objects on the way that are missing; a list has no new places.
    ///
    /// - Returns: whether the place could be made.
    @discardableResult
    public mutating func set(_ pointer: JSONPointer, to value: JSONValue) -> Bool {
        set(pointer.tokens[...], to: value)
    }

    private mutating func set(_ tokens: ArraySlice<String>, to value: JSONValue) -> Bool {
        guard let token = tokens.first else {
            self = value
            return true
        }
        // No value is there, as with null in ProtoJSON.
        if case .null = self { self = .object([]) }
        switch self {
        case .array(var items):
            var isSet = true
            for index in items.places(of: token) {
                isSet = items[index].set(tokens.dropFirst(), to: value) && isSet
            }
            self = .array(items)
            return isSet
        case .object(var members):
            let isNew = token != "*" && !members.contains { token.isSame(as: $0.name) }
            if isNew { members.append(Member(token, .null)) }
            var isSet = true
            for index in members.indices where token == "*" || token.isSame(as: members[index].name) {
                isSet = members[index].value.set(tokens.dropFirst(), to: value) && isSet
            }
            self = .object(members)
            return isSet
        default: return false
        }
    }

    /// Removes the value in a place, if there is one; a `*` on the way stands for each item and each member.
    public mutating func remove(_ pointer: JSONPointer) {
        remove(pointer.tokens[...])
    }

    /// The same in ProtoJSON, where a field may also be named as its definition does.
    public mutating func removeOfProtoJSON(_ pointer: JSONPointer) {
        remove(pointer.tokens[...])
        if pointer.protoTokens != pointer.tokens { remove(pointer.protoTokens[...]) }
    }

    private mutating func remove(_ tokens: ArraySlice<String>) {
        guard let token = tokens.first else { return }
        let rest = tokens.dropFirst()
        switch self {
        case .array(var items):
            let places = items.places(of: token)
            if rest.isEmpty {
                items.removeSubrange(places)
            } else {
                for index in places { items[index].remove(rest) }
            }
            self = .array(items)
        case .object(var members):
            if rest.isEmpty { members.removeAll { token == "*" || token.isSame(as: $0.name) } }
            for index in members.indices where token == "*" || token.isSame(as: members[index].name) {
                members[index].value.remove(rest)
            }
            self = .object(members)
        default: return
        }
    }

    /// The member of an object with this name, or the item of an array at this index.
    public func child(_ token: String) -> JSONValue? {
        guard case .array(let items) = self else { return self[token] }
        return token == "*" ? nil : items.places(of: token).first.map { items[$0] }
    }
}

extension [JSONValue] {
    /// Returns the indices that a token stands for: all for `*`, and none for a token that is not an index, such as `01`.
    fileprivate func places(of token: String) -> Range<Int> {
        guard token != "*" else { return indices }
        guard let index = Int(token), indices.contains(index), token == String(index) else { return 0..<0 }
        return index..<index + 1
    }
}
