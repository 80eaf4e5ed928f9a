internal import Bytes
internal import Configuration
internal import Documents
internal import RPC

/// What a named call sends, compiled.
enum CallBody {
    case text(Template)
    case data([UInt8])
    case json(JSONTemplate)
    case form([FormParameter])
    case multipart(Multipart)
    case file(MarkedString)

    /// A body as it is sent.
    struct Rendered {
        let body: FetchBody
        /// The content type of the kind, or that of the settings.
        let type: String
    }

    /// Compiles a body; what is wrong with it is reported.
    ///
    /// - Parameters:
    ///   - settings: what the file says of it.
    ///   - parameters: the names of the call's parameters.
    ///   - diagnostics: what is told of what is wrong.
    init(_ settings: CallBodySettings, parameters: [String], into diagnostics: Diagnostics) {
        switch settings {
        case .text(let text):
            self = .text(
                Template(
                    text.text,
                    at: text.mark,
                    allowsControls: true,
                    parameters: parameters,
                    into: diagnostics
                )
            )
        case .base64(let text):
            let bytes = Base64.decode(Array(text.text.utf8).span)
            if bytes == nil {
                diagnostics.report("\"base64\" is not valid base64; write for example AQID", at: text.mark)
            }
            self = .data(bytes ?? [])
        case .json(let node): self = .json(JSONTemplate(node, parameters: parameters, into: diagnostics))
        case .form(let entries):
            self = .form(entries.map { FormParameter($0, parameters: parameters, into: diagnostics) })
        case .multipart(let parts):
            self = .multipart(Multipart(parts, parameters: parameters, into: diagnostics))
        case .file(let file): self = .file(file)
        }
    }

    /// Its templates.
    var templates: [Template] {
        switch self {
        case .data, .file: []
        case .text(let template): [template]
        case .json(let json): json.texts
        case .form(let parameters): parameters.map(\.value)
        case .multipart(let multipart): multipart.templates
        }
    }

    /// Whether a part of it comes from a call.
    var requiresCall: Bool { templates.contains(where: \.requiresCall) }

    /// Why the call does not have all parts of it, if it does not.
    func lack(for call: Call?) -> TemplateLack? {
        switch self {
        case .data, .file: nil
        case .text(let template): template.lack(for: call)
        case .json(let json): json.lack(for: call)
        case .form(let parameters): parameters.map(\.value).lack(for: call)
        case .multipart(let multipart): multipart.templates.lack(for: call)
        }
    }

    /// The files that are sent.
    var files: [MarkedString] {
        switch self {
        case .file(let file): [file]
        case .multipart(let multipart): multipart.files
        case .text, .data, .json, .form: []
        }
    }

    /// The body for a call.
    ///
    /// - Parameters:
    ///   - call: the call; none where `requiresCall` is false.
    ///   - arguments: the values of the call's parameters.
    ///   - type: the content type instead of that of the kind.
    /// - Returns: the body with its content type, which lacks the boundary between the parts of a form.
    func render(for call: Call?, _ arguments: CallArguments, type: String?) -> Rendered {
        switch self {
        case .text(let template):
            let text = template.value(for: call, arguments) ?? []
            return Rendered(body: .bytes(text), type: type ?? "text/plain; charset=utf-8")
        case .data(let bytes): return Rendered(body: .bytes(bytes), type: type ?? "application/octet-stream")
        case .json(let json):
            let queue = ByteQueue()
            json.append(for: call, arguments, to: queue)
            return Rendered(body: .bytes(queue.readable.array), type: type ?? "application/json")
        case .form(let parameters):
            let body = FetchBody.bytes(parameters.rendered(for: call, arguments))
            return Rendered(body: body, type: type ?? "application/x-www-form-urlencoded")
        case .multipart(let multipart):
            let parts = multipart.render(for: call, arguments)
            return Rendered(body: .multipart(parts), type: type ?? "multipart/form-data")
        case .file(let file):
            return Rendered(body: .file(file.text), type: type ?? "application/octet-stream")
        }
    }
}
