public import Bytes

/// YAML that YAML 1.1 and 1.2 read as the same values: flow collections as JSON has them, and texts in quotes.
extension ByteQueue {
    /// What YAML 1.1 reads as something else than text, in small letters.
    private static let reserved: Set<String> = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]

    /// Appends a text: as it is, if it is a plain word, else in quotes.
    public func append(yaml text: String) {
        isPlain(text) ? append(text: text) : append(quotedYAML: text)
    }

    /// Appends a text in quotes.
    public func append(quotedYAML text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5c:
                append("\\")
                append(byte: UInt8(scalar.value))
            case 0x0a: append("\\n")
            case 0x0d: append("\\r")
            case 0x09: append("\\t")
            // Not printable in YAML, or the end of a line there.
            case 0..<0x20, 0x7f...0x9f, 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff:
                let digits = String(scalar.value, radix: 16)
                append(text: "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
            default: append(text: String(scalar))
            }
        }
        append("\"")
    }

    /// Appends a value on one line, as JSON that is YAML, too.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - change: makes the text of a string that is written.
    public func append(yaml value: JSONValue, _ change: (String) -> String = { $0 }) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(decimal: value)
        case .number(let number): append(text: Self.yaml(number))
        case .string(let text): append(quotedYAML: change(text))
        case .array(let items):
            append("[")
            for (index, item) in items.enumerated() {
                if index > 0 { append(", ") }
                append(yaml: item, change)
            }
            append("]")
        case .object(let members):
            append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { append(", ") }
                append(quotedYAML: member.name)
                append(": ")
                append(yaml: member.value, change)
            }
            append("}")
        }
    }

    private func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, Self.isLetter(first) else { return false }
        let isWord = text.utf8.allSatisfy { Self.isLetter($0) || 0x30...0x39 ~= $0 || "_-./".utf8.contains($0) }
        return isWord && text.utf8.count < 1000 && !Self.reserved.contains(text.lowercased())
    }

    private static func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5a ~= byte || 0x61...0x7a ~= byte }

    /// A number with an exponent: YAML 1.1 asks for a point before that, and for a sign in it.
    private static func yaml(_ number: JSONNumber) -> String {
        let text = number.text
        guard let mark = text.utf8.firstIndex(where: { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) else {
            return text
        }
        let (mantissa, exponent) = (text[..<mark], text[text.utf8.index(after: mark)...])
        let point = mantissa.utf8.contains(UInt8(ascii: ".")) ? "" : ".0"
        let sign = exponent.hasPrefix("-") || exponent.hasPrefix("+") ? "" : "+"
        return "\(mantissa)\(point)e\(sign)\(exponent)"
    }
}

extension JSONValue {
    /// How many values it has in it, and how deep they are nested; none for what ``YAML`` cannot read again.
    ///
    /// That are NUL characters, a key that is taken for a merge key, and keys longer than libyaml looks ahead.
    public var sizeInYAML: (nodes: Int, depth: Int)? {
        switch self {
        case .null, .bool, .integer, .number: return (1, 1)
        case .string(let text): return text.utf8.contains(0) ? nil : (1, 1)
        case .array(let items): return Self.size(of: items)
        case .object(let members):
            for member in members {
                let name = member.name
                let isLong = name.utf8.count > 150
                guard name != "<<", !name.utf8.contains(0), !isLong else { return nil }
            }
            return Self.size(of: members.lazy.map(\.value))
        }
    }

    private static func size(of items: some Sequence<JSONValue>) -> (nodes: Int, depth: Int)? {
        var (nodes, depth) = (1, 0)
        for item in items {
            guard let size = item.sizeInYAML else { return nil }
            nodes += size.nodes
            depth = max(depth, size.depth)
        }
        return (nodes, depth + 1)
    }
}
