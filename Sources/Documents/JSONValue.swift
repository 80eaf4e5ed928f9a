public import Bytes

/// A JSON value (RFC 8259).
///
/// Two are equal if they are worth the same: texts byte by byte, numbers however they are written (`0` and `0.0`), and
/// objects in whatever order their members are.
public enum JSONValue: Equatable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int)
    /// Any other number.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array(JSONItems)
    /// An object with its members in order, no name twice.
    case object(JSONMembers)

    /// One member of an object.
    public struct Member: Equatable, Sendable {
        /// The name.
        public let name: String
        /// The value.
        public var value: JSONValue

        /// Joins a name to its value.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }

        public static func == (left: Member, right: Member) -> Bool {
            left.name.isSame(as: right.name) && left.value == right.value
        }
    }

    /// Returns an array of values.
    public static func array(_ values: [JSONValue]) -> JSONValue { .array(JSONItems(values)) }

    /// Returns an object with members.
    public static func object(_ members: [Member]) -> JSONValue { .object(JSONMembers(members)) }

    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let left), .number(let right)), (.number(let right), .integer(let left)):
            JSONNumber(left) == right
        case (.string(let left), .string(let right)): left.isSame(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// The value that a valid number is.
    init(number text: Span<UInt8>) {
        self = JSONNumber.integer(text).map { .integer($0) } ?? .number(JSONNumber(valid: text.string))
    }

    /// The member of that name, if the value is an object that has it.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.value(named: name)
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
        JSONPointer(text).flatMap(value)
    }

    /// The number of bytes that the value holds, with the text that it is of; an approximation.
    public var heldBytes: Int {
        let own = MemoryLayout<JSONValue>.stride
        return switch self {
        case .null, .bool, .integer: own
        case .number(let number): own + number.text.utf8.count
        case .string(let text): own + text.utf8.count
        case .array(let items): items.source?.document.heldBytes ?? items.reduce(own) { $0 + $1.heldBytes }
        case .object(let members):
            members.source?.document.heldBytes
                ?? members.reduce(own) { $0 + MemoryLayout<String>.stride + $1.name.utf8.count + $1.value.heldBytes }
        }
    }

    /// Returns the same value with the bytes that it holds counted by a meter, if it is an array or object of a text: it stays
    /// on the thread of the meter from then on.
    public func counted(by meter: MemoryMeter) -> JSONValue {
        guard let source else { return self }
        return source.document.counted(by: meter).value(at: source.index)
    }

    /// The place in the document that the value is of, if it is an array or object of one.
    var source: JSONSource? {
        switch self {
        case .array(let items): items.source
        case .object(let members): members.source
        default: nil
        }
    }
}
