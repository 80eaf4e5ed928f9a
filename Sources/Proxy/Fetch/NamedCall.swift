internal import Bytes
public import Configuration
internal import HTTP
internal import RPC

/// A request of the configuration's `calls`, compiled: each time it is asked for, its templates are filled in anew.
///
/// Safe on any thread.
public final class NamedCall: Sendable {
    /// What the configuration says of it.
    public let settings: CallSettings
    /// The values that requests of callers give it.
    public let parameters: CallParameters
    /// Whether a part of it comes from a call, so that it cannot be made where there is none.
    public let requiresCall: Bool

    let path: Template
    let urlQuery: Template?
    private let query: [FormParameter]
    private let headers: [(name: String, value: Template)]
    let body: CallBody?
    /// All of them but those of the body.
    let templates: [Template]

    /// Compiles a call; what is wrong with it is reported.
    public init(_ settings: CallSettings, into diagnostics: Diagnostics) {
        self.settings = settings
        parameters = CallParameters(settings.parameters)
        let names = parameters.names
        func template(_ text: String, at mark: Mark) -> Template {
            Template(text, at: mark, allowsControls: false, parameters: names, into: diagnostics)
        }
        path = template(settings.url.path, at: settings.urlMark)
        urlQuery = settings.url.query.map { template($0, at: settings.urlMark) }
        query = settings.query.map { FormParameter($0, parameters: names, into: diagnostics) }
        headers = settings.headers.map { entry in
            let name = HeaderName.checked(entry.name, at: entry.nameMark, into: diagnostics)
            return (String(decoding: name.bytes, as: UTF8.self), template(entry.text, at: entry.mark))
        }
        body = settings.body.map { CallBody($0, parameters: names, into: diagnostics) }
        if let type = settings.contentType { HeaderValue.check(type.text, at: type.mark, into: diagnostics) }
        templates = [path] + [urlQuery].compactMap { $0 } + query.map(\.value) + headers.map(\.value)
        requiresCall = templates.contains(where: \.requiresCall) || body?.requiresCall == true
        let texts = path.texts + (urlQuery?.texts ?? []).map { $0.filter { $0 != UInt8(ascii: "?") } }
        let isTarget = texts.allSatisfy { HTTPHead.isPath(([UInt8(ascii: "/")] + $0).span) }
        if !isTarget || Self.hasDotSegment(path.constant ?? []) {
            let problem = "a URL cannot contain spaces, quotes, control characters or dot segments"
            diagnostics.report("\(problem); write %20 for a space", at: settings.urlMark)
        }
        checkParameters(into: diagnostics)
    }

    /// Reports the files that could not be sent if the call were made now.
    public func checkFiles(into diagnostics: Diagnostics) {
        for file in body?.files ?? [] { CallFile.check(file, into: diagnostics) }
    }

    /// The request for a call, or for none.
    ///
    /// Files are read when it is sent.
    ///
    /// - Parameters:
    ///   - call: the call that it is made for; none only where `requiresCall` is false.
    ///   - arguments: the values of the parameters; none gives the defaults, where no parameter is required.
    /// - Returns: the request, for the server of the settings' URL.
    /// - Throws: an error if with what the call and its arguments bring the request is none to be sent.
    public func render(for call: Call?, _ arguments: CallArguments? = nil) throws(NamedCallError) -> FetchRequest {
        precondition(call != nil || !requiresCall, "the call \(settings.name) needs a call that it is made for")
        let arguments = arguments ?? parameters.defaults
        var request = FetchRequest(method: settings.method, target: try target(for: call, arguments))
        request.call = settings.name
        for (name, template) in headers {
            guard let value = template.value(for: call, arguments) else { continue }
            // A line break in it would make two headers of one.
            if template.hasControl(arguments) {
                throw .argument(names(of: template), "cannot stand in a header: it has control characters")
            }
            request.fields.append(FetchRequest.Field(name, value))
        }
        guard let body else { return request }
        let rendered = body.render(for: call, arguments, type: settings.contentType?.text)
        request.fields.append(FetchRequest.Field("content-type", Array(rendered.type.utf8)))
        request.body = rendered.body
        return request
    }

    /// Why the call does not have all parts of the request, if it does not.
    public func lack(for call: Call?) -> TemplateLack? {
        templates.lack(for: call) ?? body?.lack(for: call)
    }

    private func target(for call: Call?, _ arguments: CallArguments) throws(NamedCallError) -> [UInt8] {
        let queue = ByteQueue()
        // The path of one thing would be that of all of them.
        for index in path.parameters where arguments[index]?.text.isEmpty == true {
            throw .argument(parameters.names[index], "cannot be empty: it is a part of a path")
        }
        path.renderURL(for: call, arguments, to: queue, isPath: true)
        let path = queue.readable.array
        guard HTTPHead.isPath(path.span), !Self.hasDotSegment(path) else { throw .target }
        let urlQuery = urlQuery.map { template in
            let query = ByteQueue()
            template.renderURL(for: call, arguments, to: query, isPath: false)
            return query.readable.array
        }
        let query = query.rendered(for: call, arguments)
        if urlQuery != nil || !query.isEmpty { queue.append(byte: UInt8(ascii: "?")) }
        queue.append(urlQuery ?? [])
        // Another "&" would make an empty parameter.
        if let last = urlQuery?.last, last != UInt8(ascii: "&"), !query.isEmpty {
            queue.append(byte: UInt8(ascii: "&"))
        }
        queue.append(query)
        return queue.readable.array
    }

    /// Whether a segment is `.` or `..`, by which a value would lead out of the path that the configuration means.
    ///
    /// Servers may decode the slashes in a value, so these end segments as well; no path has a byte of 0.
    private static func hasDotSegment(_ path: [UInt8]) -> Bool {
        let decoded = PercentEncoding.decode(path.span)
        let segments = decoded.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        return decoded.contains(0) || segments.contains { $0.elementsEqual([0x2e]) || $0.elementsEqual([0x2e, 0x2e]) }
    }
}
