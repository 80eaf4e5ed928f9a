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

    /// The body that parts make, and the boundary between them; reads their files.
    static func joined(_ parts: [FetchBody.Part]) throws(NamedCallError) -> (body: [UInt8], boundary: String) {
        var rendered: [[UInt8]] = []
        for part in parts {
            switch part.content {
            case .bytes(let bytes): rendered.append(part.head + bytes)
            case .file(let path): rendered.append(part.head + (try CallFile.read(path)))
            }
        }
        let boundary = boundary(absentFrom: rendered)
        var body: [UInt8] = []
        body.reserveCapacity(rendered.reduce(64) { $0 + $1.count + boundary.utf8.count + 6 })
        for part in rendered {
            body += "--\(boundary)\r\n".utf8
            body += part
            body += "\r\n".utf8
        }
        body += "--\(boundary)--\r\n".utf8
        return (body, boundary)
    }

    /// A boundary (RFC 2046 §5.1.1) that stands nowhere in the parts.
    ///
    /// It is the same for the same parts: requests that are equal are made once for all who want them.
    static func boundary(absentFrom parts: [[UInt8]]) -> String {
        var number: UInt64 = 0
        while true {
            let queue = ByteQueue()
            queue.append("martlet-")
            queue.append(paddedHexadecimal: 0)
            queue.append(paddedHexadecimal: number)
            number += 1
            let boundary = queue.readable.array
            if !parts.contains(where: { $0.span.contains(boundary) }) {
                return String(decoding: boundary, as: UTF8.self)
            }
        }
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

extension Span<UInt8> {
    /// Whether `bytes` stand somewhere in these.
    fileprivate func contains(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while let index = firstIndex(of: bytes[0], from: start), index + bytes.count <= count {
            if extracting(index..<(index + bytes.count)).equals(bytes) { return true }
            start = index + 1
        }
        return false
    }
}
