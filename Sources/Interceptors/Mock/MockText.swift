internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import Proxy
internal import Time

/// A text of a mock: a template that knows of the message of the request, too.
struct MockText: Sendable {
    private enum Piece: Sendable {
        case template(Template)
        /// A value of the message with this number; of the last message if `nil`.
        case json(Int?, JSONPointer)
        /// A part of the path, by its name.
        case path(String)
        /// A parameter of the query, by its name.
        case query(String)
        /// The message as text.
        case body
        case number, attempt, now
        /// So many random bytes, in hexadecimal.
        case random(Int)
    }

    /// What a mock knows beside what templates know.
    private static let names = [
        "json:/POINTER", "json:N:/POINTER", "body", "path:NAME", "query:NAME", "message.number", "attempt", "now",
        "random:hex:N",
    ]

    private let pieces: [Piece]

    /// Reads a text; what is wrong with it is reported at `mark`.
    init(_ text: String, at mark: Mark, allowsControls: Bool = true, into diagnostics: Diagnostics) {
        var (pieces, plain, rest) = ([Piece](), "", text[...])
        func finish() {
            guard !plain.isEmpty else { return }
            let template = Template(
                plain,
                at: mark,
                allowsControls: allowsControls,
                besides: Self.names,
                into: diagnostics
            )
            pieces.append(.template(template))
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
        switch name {
        case "message.number": return .number
        case "attempt": return .attempt
        case "now": return .now
        case "body": return .body
        default: break
        }
        if name.hasPrefix("path:") { return .path(String(name.dropFirst(5))) }
        if name.hasPrefix("query:") { return .query(String(name.dropFirst(6))) }
        if name.hasPrefix("random:hex:") {
            guard let count = Int(name.dropFirst(11)), 1...256 ~= count else {
                diagnostics.report("{\(name)} is not from 1 to 256 bytes; write for example {random:hex:16}", at: mark)
                return .number
            }
            return .random(count)
        }
        guard name.hasPrefix("json:") else { return nil }
        let numbered = MockMessageNumbers.split(name)
        if let number = numbered?.number, !MockMessageNumbers.range.contains(number) {
            let range = "from \(MockMessageNumbers.range.lowerBound) to \(MockMessageNumbers.range.upperBound)"
            diagnostics.report("{\(name)} has no number \(range); write for example {json:1:/id}", at: mark)
            return .number
        }
        if let pointer = JSONPointer(numbered?.pointer ?? String(name.dropFirst(5))) {
            return .json(numbered?.number, pointer)
        }
        diagnostics.report("{\(name)} is not a JSON Pointer; write for example {json:/id}", at: mark)
        return .number
    }

    /// The place of the value if the text is nothing else: the value keeps its type then.
    var place: (message: Int?, pointer: JSONPointer)? {
        guard pieces.count == 1, case .json(let message, let pointer) = pieces[0] else { return nil }
        return (message, pointer)
    }

    /// The parts of the path that it has in it.
    var pathNames: [String] {
        pieces.compactMap { if case .path(let name) = $0 { name } else { nil } }
    }

    /// The text, if it is the same for all calls.
    var constant: [UInt8]? {
        var constant: [UInt8] = []
        for piece in pieces {
            guard case .template(let template) = piece, let text = template.constant else { return nil }
            constant += text
        }
        return constant
    }

    /// The number of messages of the request that the text needs; 0 if it has no part of one in it.
    var neededMessages: Int {
        let needs = pieces.map { piece in
            switch piece {
            case .json(let number, _): number ?? 1
            case .body: 1
            default: 0
            }
        }
        return needs.max() ?? 0
    }

    /// Whether the text has a part of a message of the request in it.
    var asksMessage: Bool { neededMessages > 0 }

    /// The text for a call and a message of it.
    ///
    /// - Parameters:
    ///   - context: The call and its message.
    ///   - isShown: Whether the text goes into logs, so that it has nothing that `redact` names.
    /// - Returns: The text.
    func value(_ context: MockContext, isShown: Bool = false) -> [UInt8] {
        pieces.reduce(into: []) { text, piece in
            switch piece {
            case .template(let template): text += template.value(for: context.call)
            case .number: text += Array(String(context.number).utf8)
            case .attempt: text += Array(String(context.call.attempts).utf8)
            case .now: text += Array(TimestampFormatter.text(context.worker.loop.clock.wall).utf8)
            case .path(let name): text += context.captures[name] ?? []
            case .query(let name): text += context.query.first(name) ?? []
            case .body: text += isShown ? context.shownPayload : context.payload
            case .random(let count):
                for _ in 0..<count {
                    let byte = UInt8(truncatingIfNeeded: Int(context.worker.randomFraction() * 256))
                    text += [byte >> 4, byte & 15].map { $0 < 10 ? 0x30 + $0 : 0x57 + $0 }
                }
            case .json(let number, let pointer):
                switch context.value(at: pointer, ofMessage: number, isShown: isShown) {
                case .string(let value)?: text += Array(value.utf8)
                case let value?: text += value.bytes
                case nil: break
                }
            }
        }
    }
}
