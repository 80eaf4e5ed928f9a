internal import Bytes
internal import Configuration

/// The parts of a form with files, `multipart/form-data` (RFC 7578).
struct Multipart {
    private enum Content {
        case value(Template)
        case file(MarkedString)
    }

    private struct Part {
        /// The headers with the empty line behind them.
        let head: [UInt8]
        let content: Content
    }

    private let parts: [Part]

    /// Compiles the parts; what is wrong with them is reported.
    init(_ parts: [CallPartSettings], parameters: [String], into diagnostics: Diagnostics) {
        self.parts = parts.map { part in
            if let type = part.type { HeaderValue.check(type.text, at: type.mark, into: diagnostics) }
            var head = "Content-Disposition: form-data; name=\"\(Self.quoted(part.name))\""
            var type = part.type?.text
            let content: Content
            switch part.content {
            case .value(let text):
                content = .value(
                    Template(
                        text.text,
                        at: text.mark,
                        allowsControls: true,
                        parameters: parameters,
                        into: diagnostics
                    )
                )
            case .file(let file, let name):
                head += "; filename=\"\(Self.quoted(name))\""
                type = type ?? "application/octet-stream"
                content = .file(file)
            }
            if let type { head += "\r\nContent-Type: \(type)" }
            return Part(head: Array("\(head)\r\n\r\n".utf8), content: content)
        }
    }

    /// The values of its parts.
    var templates: [Template] {
        parts.compactMap { if case .value(let template) = $0.content { template } else { nil } }
    }

    /// Whether a part comes from a call.
    var requiresCall: Bool { templates.contains(where: \.requiresCall) }

    /// The files that are sent.
    var files: [MarkedString] {
        parts.compactMap { if case .file(let file) = $0.content { file } else { nil } }
    }

    /// The parts for a call, without those whose value is absent.
    func render(for call: Call?, _ arguments: CallArguments) -> [FetchBody.Part] {
        parts.compactMap { part in
            switch part.content {
            case .value(let template):
                template.value(for: call, arguments).map { .init(head: part.head, content: .bytes($0)) }
            case .file(let file): .init(head: part.head, content: .file(file.text))
            }
        }
    }

    /// The body that parts make, with `boundary` between them.
    static func contents(_ parts: [FetchBody.Part], boundary: String) -> [FetchBody.Content] {
        var contents: [FetchBody.Content] = []
        for part in parts {
            contents.append(.bytes("--\(boundary)\r\n".utf8 + part.head))
            contents.append(part.content)
            contents.append(.bytes(Array("\r\n".utf8)))
        }
        return contents + [.bytes(Array("--\(boundary)--\r\n".utf8))]
    }

    /// Returns a boundary of 128 random bits (RFC 2046 §5.1.1).
    ///
    /// No search through the parts is needed: a caller cannot guess the boundary, and chance does not repeat it.
    static func newBoundary() -> String {
        var random = SystemRandomNumberGenerator()
        let queue = ByteQueue()
        queue.append("martlet-")
        queue.append(paddedHexadecimal: random.next())
        queue.append(paddedHexadecimal: random.next())
        return String(decoding: queue.readable.array, as: UTF8.self)
    }

    /// A name as it stands between quotes, escaped as browsers do it: a backslash would be taken for itself.
    private static func quoted(_ name: String) -> String {
        var quoted = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": quoted += "%22"
            case "\r": quoted += "%0D"
            case "\n": quoted += "%0A"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }
}
