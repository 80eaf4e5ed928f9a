internal import Configuration
internal import Proxy

/// A text with names in braces that stand for something else: `Bearer {token}`; `{{` and `}}` are braces.
struct Placeholders: Sendable {
    private enum Piece: Sendable {
        case text([UInt8])
        case name(String)
    }

    private var pieces: [Piece] = []

    /// Reads a text; braces that do not match are reported at `mark`.
    init(_ text: String, at mark: Mark, into diagnostics: Diagnostics) {
        var literal: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let isBrace = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
            guard isBrace else {
                literal.append(byte)
                continue
            }
            if rest.first == byte {
                rest.removeFirst()
                literal.append(byte)
            } else if byte == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")) {
                pieces += [.text(literal), .name(String(decoding: rest[..<end], as: UTF8.self))]
                literal = []
                rest = rest[(end + 1)...]
            } else {
                let problem = "\(Diagnostic.quote(text)) contains an unbalanced brace"
                diagnostics.report("\(problem); write \"{{\" or \"}}\" for a plain brace", at: mark)
                return
            }
        }
        pieces.append(.text(literal))
    }

    /// The names, in their order.
    var names: [String] {
        pieces.compactMap { if case .name(let name) = $0 { name } else { nil } }
    }

    /// The text with what the names stand for; none if one of them stands for nothing.
    func filled(_ value: (String) -> [UInt8]?) -> [UInt8]? {
        var bytes: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let text): bytes += text
            case .name(let name):
                guard let value = value(name) else { return nil }
                bytes += value
            }
        }
        return bytes
    }
}
