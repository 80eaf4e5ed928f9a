/// A JSON value (RFC 8259).
public enum JSONValue: Equatable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int)
    /// Any other number.
    case real(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object with its members in order, no name twice.
    case object([Member])

    /// One member of an object.
    public struct Member: Equatable, Sendable {
        /// The name.
        public let name: String
        /// The value.
        public let value: JSONValue

        /// Joins a name to its value.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member of that name, if the value is an object that has it.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text of a string; none for anything else.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of a whole number; none for anything else.
    public var integer: Int? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The value that a JSON Pointer (RFC 6901) names, such as `/a/b`; the empty pointer names the whole.
    public func pointer(_ text: String) -> JSONValue? {
        guard !text.isEmpty else { return self }
        guard text.hasPrefix("/") else { return nil }
        return text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            .reduce(self) { value, token in value?.child(Self.unescape(token)) }
    }

    private func child(_ token: String) -> JSONValue? {
        guard case .array(let items) = self else { return self[token] }
        guard let index = Int(token), token == String(index), items.indices.contains(index) else { return nil }
        return items[index]
    }

    /// Turns `~1` into `/` and `~0` into `~`.
    private static func unescape(_ token: Substring) -> String {
        var plain = ""
        var isEscaped = false
        for character in token {
            if isEscaped {
                plain.append(character == "1" ? "/" : character == "0" ? "~" : character)
            } else if character != "~" {
                plain.append(character)
            }
            isEscaped = !isEscaped && character == "~"
        }
        return plain
    }
}
