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

    /// The member of an object with this name, or the item of an array at this index.
    public func child(_ token: String) -> JSONValue? {
        guard case .array(let items) = self else { return self[token] }
        return JSONPointer.number(token).flatMap { items.item($0) }
    }

    /// Calls `body` with each value that `replace` would replace.
    public func visit(_ pointer: JSONPointer, _ body: (JSONValue) -> Void) {
        visit(pointer.tokens[...], pointer.protoTokens[...], body)
    }

    private func visit(_ tokens: ArraySlice<String>, _ others: ArraySlice<String>, _ body: (JSONValue) -> Void) {
        guard let token = tokens.first, let other = others.first else { return body(self) }
        let (rest, otherRest) = (tokens.dropFirst(), others.dropFirst())
        switch self {
        case .array(let items) where token == "*":
            for item in items { item.visit(rest, otherRest, body) }
        case .array: child(token)?.visit(rest, otherRest, body)
        case .object(let members) where token == "*":
            for member in members { member.value.visit(rest, otherRest, body) }
        case .object:
            self[token]?.visit(rest, otherRest, body)
            if !token.isSame(as: other) { self[other]?.visit(rest, otherRest, body) }
        case .null, .bool, .integer, .number, .string: break
        }
    }
}

extension JSONPointer {
    /// Returns the index that a token stands for, or `nil` if it is not an index, such as `01`.
    static func number(_ token: String) -> Int? {
        guard let number = Int(token), number >= 0, token == String(number) else { return nil }
        return number
    }
}
