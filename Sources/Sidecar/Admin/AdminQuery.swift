internal import Bytes
internal import RPC

/// The parameters of a request's query, without escapes; `+` is a space (URL Standard §5.1).
struct AdminQuery {
    private var parameters: [(name: String, value: String)] = []

    /// A query without parameters.
    init() {}

    /// Reads a query without its `?`; nil if one of its escapes is not valid.
    init?(_ query: Span<UInt8>) {
        var position = 0
        while let parameter = QueryParameter(in: query, at: &position) {
            if parameter.range.isEmpty { continue }
            guard let name = Self.decoded(query.extracting(parameter.name)) else { return nil }
            guard let value = Self.decoded(query.extracting(parameter.value)) else { return nil }
            parameters.append((name, value))
        }
    }

    /// The value of the first parameter of this name; nil if there is none.
    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The values of all parameters of this name.
    func values(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

    /// The names of the parameters, in order.
    var names: [String] { parameters.map(\.name) }

    private static func decoded(_ text: Span<UInt8>) -> String? {
        for index in 0..<text.count where text[index] == UInt8(ascii: "%") {
            guard text.escapedByte(at: index) != nil else { return nil }
        }
        let spaced = text.array.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: PercentEncoding.decode(spaced.span), as: UTF8.self)
    }
}

extension AdminQuery {
    /// A text as a value of a query, or a part of a path.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            if byte < 0x80,
                Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
                    || "-_.~".utf8.contains(byte)
            {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return escaped
    }
}
