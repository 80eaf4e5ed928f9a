internal import Bytes
public import Documents
public import HTTP

/// What of the calls of a chain is kept out of all that people read: logs, tees, traces.
public struct Redactions: Sendable {
    /// The replacement for a value that is not shown.
    public static let mask = MaskedText.mask

    private var headers: [FieldName]
    private var pointers: [JSONPointer]

    /// Creates redactions of these headers, beside those of `SecretName`, and of these places of messages in JSON.
    public init(headers: [FieldName] = [], pointers: [JSONPointer] = []) {
        (self.headers, self.pointers) = (headers, pointers)
    }

    /// What is kept out here or there.
    mutating func formUnion(_ other: Redactions) {
        headers += other.headers.filter { !headers.contains($0) }
        pointers += other.pointers.filter { !pointers.contains($0) }
    }

    /// Whether the value of a header, whose name is in small letters, is masked because of its name.
    public func contains(_ header: Span<UInt8>) -> Bool { names(header) || SecretName.matches(header) }

    /// Whether the chain names a header, whose name is in small letters, beside those that are masked everywhere.
    ///
    /// The `trailer-` of unary Connect may stand before it. Allocates nothing.
    public func names(_ header: Span<UInt8>) -> Bool {
        let prefix = "trailer-".utf8.count
        let plain = header.hasPrefix("trailer-") ? header.extracting(prefix..<header.count) : header
        return headers.contains { header.equals($0.bytes) || plain.equals($0.bytes) }
    }

    /// Whether what is at a place of messages is not shown, or what it is a part of.
    public func contains(_ place: JSONPointer) -> Bool {
        pointers.contains { hidden in
            hidden.tokens.count <= place.tokens.count
                && zip(hidden.tokens, place.tokens).allSatisfy { $0 == "*" || $0 == $1 }
        }
    }

    /// Whether something of messages is not shown, so that they have to be shown by `masked`.
    public var hasPointers: Bool { !pointers.isEmpty }

    /// A message in JSON as it may be shown; none if it is not JSON, so that nobody knows what is in it.
    public func masked(_ payload: Span<UInt8>) -> [UInt8]? {
        (try? JSON.parse(payload)).map { masked($0).bytes }
    }

    /// Adds the masked values of a message, which an error message may repeat.
    func collect(from value: JSONValue, into secrets: inout KnownSecrets) {
        for pointer in pointers { value.visit(pointer) { $0.collect(into: &secrets) } }
    }

    /// What is in a message, as it may be shown.
    public func masked(_ value: JSONValue) -> JSONValue {
        var shown = value
        shown.replace(pointers, by: .string("\(Self.mask)"))
        return shown
    }
}

/// The plan of an interceptor that knows of something that people are not to read.
public protocol Redacting: InterceptorPlan {
    /// What is kept out of all that is shown of its chain's calls.
    var redactions: Redactions { get }
}

extension JSONValue {
    /// Adds the texts and numbers in a value: as they are, and in JSON with and without escapes for characters beyond ASCII.
    fileprivate func collect(into secrets: inout KnownSecrets) {
        switch self {
        case .null, .bool: break
        case .integer, .number: secrets.insert(named: bytes)
        case .string(let text):
            secrets.insert(named: Array(text.utf8))
            secrets.insert(named: Array(bytes.dropFirst().dropLast()))
            guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { break }
            for isUppercase in [false, true] {
                secrets.insert(named: Self.escaped(text, isUppercase: isUppercase))
            }
        case .array(let items): items.forEach { $0.collect(into: &secrets) }
        case .object(let members):
            for member in members {
                // The names of a map are values, too; short ones are often ordinary words.
                secrets.formUnion([Array(member.name.utf8)])
                member.value.collect(into: &secrets)
            }
        }
    }

    /// Returns a text as a JSON string in ASCII, without its quotes.
    private static func escaped(_ text: String, isUppercase: Bool) -> [UInt8] {
        let json = JSONValue.string(text).bytes.dropFirst().dropLast()
        var escaped: [UInt8] = []
        for unit in String(decoding: json, as: UTF8.self).utf16 {
            if unit < 0x80 {
                escaped.append(UInt8(unit))
            } else {
                let digits = String(unit, radix: 16, uppercase: isUppercase)
                escaped += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        return escaped
    }
}
