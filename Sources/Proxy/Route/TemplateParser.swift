internal import Bytes
internal import Configuration
private import Glibc
internal import HTTP

/// Reads the text of a template, and reports what is wrong with it.
struct TemplateParser {
    /// What stands in braces without a colon in every template.
    static let plain: [String: Template.Piece] = [
        "host": .host, "upstream.host": .upstreamHost, "path": .path, "service": .service, "method": .method,
        "peer.uid": .peerUser, "peer.gid": .peerGroup, "call.id": .callID,
    ]

    private let allowsControls: Bool
    /// What else can stand in braces, and is not for this parser.
    private let others: [String]
    /// The parameters of the named call that the text belongs to.
    private let parameters: [String]
    private let mark: Mark
    private let diagnostics: Diagnostics
    private var pieces: [Template.Piece] = []

    /// Prepares to read a text that stands at `mark`, and may have line breaks where it does not come to stand in a header.
    init(
        allowsControls: Bool,
        others: [String] = [],
        parameters: [String] = [],
        mark: Mark,
        diagnostics: Diagnostics
    ) {
        self.allowsControls = allowsControls
        self.others = others
        self.parameters = parameters
        self.mark = mark
        self.diagnostics = diagnostics
    }

    /// The pieces of a text, none of them empty; those before what is wrong, if something is.
    mutating func parse(_ text: String) -> [Template.Piece] {
        if !allowsControls { HeaderValue.check(text, at: mark, into: diagnostics) }
        var literal: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let isBrace = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
            if isBrace, rest.first == byte {
                rest.removeFirst()
                literal.append(byte)
            } else if byte == UInt8(ascii: "{") {
                guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
                    diagnostics.report("a \"{\" has no \"}\"; write \"{{\" for a plain brace", at: mark)
                    return pieces
                }
                add(literal)
                literal = []
                addPlaceholder(String(decoding: rest[..<end], as: UTF8.self))
                rest = rest[(end + 1)...]
            } else if byte == UInt8(ascii: "}") {
                diagnostics.report("a \"}\" has no \"{\"; write \"}}\" for a plain brace", at: mark)
            } else {
                literal.append(byte)
            }
        }
        add(literal)
        return pieces
    }

    private mutating func add(_ text: [UInt8]) {
        if !text.isEmpty { pieces.append(.text(text)) }
    }

    private mutating func addPlaceholder(_ name: String) {
        if let piece = Self.plain[name] {
            pieces.append(piece)
        } else if let index = parameters.firstIndex(of: name) {
            pieces.append(.parameter(index))
        } else if name.hasPrefix("env:") {
            addVariable(String(name.dropFirst(4)))
        } else if name.hasPrefix("header:"), FieldName.isValid(String(name.dropFirst(7))) {
            pieces.append(.header(FieldName(String(name.dropFirst(7)))))
        } else {
            let known = parameters + Self.plain.keys.sorted() + ["env:NAME", "header:name"] + others
            // What is no name at all may be a secret with braces in it.
            let isName = name.utf8.allSatisfy {
                0x61...0x7a ~= $0 || $0 == 0x2e || $0 == 0x3a || $0 == 0x5f || $0 == 0x2d
                    || !parameters.isEmpty && (0x41...0x5a ~= $0 || 0x30...0x39 ~= $0)
            }
            let what = isName ? "{\(name)}" : "the placeholder"
            let suggestion = Suggestion.text(for: isName ? name : "", among: known)
            diagnostics.report("\(what) is unknown; \(suggestion)", at: mark)
        }
    }

    private mutating func addVariable(_ name: String) {
        guard let value = unsafe getenv(name) else {
            let problem = "the environment variable \(name) is not set"
            diagnostics.report("\(problem); set it, or remove {env:\(name)}", at: mark)
            return
        }
        let text = unsafe String(cString: value)
        if !allowsControls { HeaderValue.check(text, at: mark, into: diagnostics) }
        add(Array(text.utf8))
    }
}
