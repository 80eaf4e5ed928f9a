internal import Bytes
internal import Configuration
internal import Documents
internal import Proxy
internal import RPC
internal import Time

/// A text of a mock: a template that knows of the message of the request, too.
struct MockText: Sendable {
    private enum Piece: Sendable {
        case template(Template)
        case json(JSONPointer)
        case number
    }

    private let pieces: [Piece]

    /// Reads a text; what is wrong with it is reported at `mark`.
    init(_ text: String, at mark: Mark, allowsControls: Bool = true, into diagnostics: Diagnostics) {
        var (pieces, plain, rest) = ([Piece](), "", text[...])
        func finish() {
            guard !plain.isEmpty else { return }
            pieces.append(.template(Template(plain, at: mark, allowsControls: allowsControls, into: diagnostics)))
            plain = ""
        }
        while let character = rest.first {
            if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
                plain += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if character == "{", let end = rest.firstIndex(of: "}"),
                let piece = Self.piece(rest[rest.index(after: rest.startIndex)..<end], at: mark, into: diagnostics)
            {
                finish()
                pieces.append(piece)
                rest = rest[rest.index(after: end)...]
            } else {
                plain.append(character)
                rest = rest.dropFirst()
            }
        }
        finish()
        self.pieces = pieces
    }

    private static func piece(_ name: Substring, at mark: Mark, into diagnostics: Diagnostics) -> Piece? {
        if name == "message.number" { return .number }
        guard name.hasPrefix("json:") else { return nil }
        if let pointer = JSONPointer(String(name.dropFirst(5))) { return .json(pointer) }
        diagnostics.report("{\(name)} is not a JSON Pointer; write for example {json:/id}", at: mark)
        return .number
    }

    /// The pointer, where the text is nothing else: its value keeps its type then.
    var pointer: JSONPointer? {
        guard pieces.count == 1, case .json(let pointer) = pieces[0] else { return nil }
        return pointer
    }

    /// The text for a call and a message of it.
    func value(_ context: MockContext) -> [UInt8] {
        pieces.reduce(into: []) { text, piece in
            switch piece {
            case .template(let template): text += template.value(for: context.call)
            case .number: text += Array(String(context.number).utf8)
            case .json(let pointer):
                switch context.value(at: pointer) {
                case .string(let value)?: text += Array(value.utf8)
                case let value?: text += value.bytes
                case nil: break
                }
            }
        }
    }
}

/// What the texts of a mock are made of.
struct MockContext {
    let call: Call
    /// The message of the request that came last, if it is JSON.
    var message: JSONValue?
    /// The same as it came.
    var payload: [UInt8] = []
    /// Its number, from 1.
    var number = 0

    /// Whether the message is the ProtoJSON of a known type.
    var isProtoJSON: Bool { call.hasMessageTypes }

    /// The value in a place of the message, if there is one.
    func value(at pointer: JSONPointer) -> JSONValue? {
        isProtoJSON ? message?.valueOfProtoJSON(at: pointer) : message?.value(at: pointer)
    }
}
