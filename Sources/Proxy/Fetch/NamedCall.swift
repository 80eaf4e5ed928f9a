internal import Bytes
public import Configuration
internal import HTTP

/// A request of the configuration's `calls`, compiled: each time it is asked for, its templates are filled in anew.
///
/// Safe on any thread.
public final class NamedCall: Sendable {
    /// What the configuration says of it.
    public let settings: CallSettings
    /// Whether a part of it comes from a call, so that it cannot be made where there is none.
    public let requiresCall: Bool

    private let path: Template
    private let urlQuery: Template?
    private let query: [CallParameter]
    private let headers: [(name: String, value: Template)]
    private let body: CallBody?
    /// All of them but those of the body.
    private let templates: [Template]

    /// Compiles a call; what is wrong with it is reported.
    public init(_ settings: CallSettings, into diagnostics: Diagnostics) {
        self.settings = settings
        path = Template(settings.url.path, at: settings.urlMark, into: diagnostics)
        urlQuery = settings.url.query.map { Template($0, at: settings.urlMark, into: diagnostics) }
        query = settings.query.map { CallParameter($0, into: diagnostics) }
        headers = settings.headers.map { entry in
            let name = HeaderName.checked(entry.name, at: entry.nameMark, into: diagnostics)
            let value = Template(entry.text, at: entry.mark, into: diagnostics)
            return (String(decoding: name.bytes, as: UTF8.self), value)
        }
        body = settings.body.map { CallBody($0, into: diagnostics) }
        if let type = settings.contentType { HeaderValue.check(type.text, at: type.mark, into: diagnostics) }
        templates = [path] + [urlQuery].compactMap { $0 } + query.map(\.value) + headers.map(\.value)
        requiresCall = templates.contains(where: \.requiresCall) || body?.requiresCall == true
        let texts = path.texts + (urlQuery?.texts ?? []).map { $0.filter { $0 != UInt8(ascii: "?") } }
        let isTarget = texts.allSatisfy { HTTPHead.isPath(([UInt8(ascii: "/")] + $0).span) }
        if !isTarget || Self.hasDotSegment(path.constant ?? []) {
            let problem = "a URL cannot contain spaces, quotes, control characters or dot segments"
            diagnostics.report("\(problem); write %20 for a space", at: settings.urlMark)
        }
    }

    /// Reports the files that could not be sent if the call were made now.
    public func checkFiles(into diagnostics: Diagnostics) {
        for file in body?.files ?? [] { CallFile.check(file, into: diagnostics) }
    }

    /// The request for a call, or for none.
    ///
    /// Files are read when it is sent.
    ///
    /// - Parameter call: the call that it is made for; none only where `requiresCall` is false.
    /// - Returns: the request, for the server of the settings' URL.
    /// - Throws: an error if with what the call brings the path is none to be sent.
    public func render(for call: Call?) throws(NamedCallError) -> FetchRequest {
        precondition(call != nil || !requiresCall, "the call \(settings.name) needs a call that it is made for")
        var request = FetchRequest(method: settings.method, target: try target(for: call))
        request.fields = headers.map { FetchRequest.Field($0.name, $0.value.value(for: call)) }
        guard let body else { return request }
        let rendered = body.render(for: call, type: settings.contentType?.text)
        request.fields.append(FetchRequest.Field("content-type", Array(rendered.type.utf8)))
        request.body = rendered.body
        return request
    }

    /// Why the call does not have all parts of the request, if it does not.
    public func lack(for call: Call?) -> TemplateLack? {
        templates.lack(for: call) ?? body?.lack(for: call)
    }

    private func target(for call: Call?) throws(NamedCallError) -> [UInt8] {
        let queue = ByteQueue()
        path.renderURL(for: call, to: queue, isPath: true)
        let path = queue.readable.array
        guard HTTPHead.isPath(path.span), !Self.hasDotSegment(path) else { throw .target }
        let urlQuery = urlQuery.map { template in
            let query = ByteQueue()
            template.renderURL(for: call, to: query, isPath: false)
            return query.readable.array
        }
        if urlQuery != nil || !query.isEmpty { queue.append(byte: UInt8(ascii: "?")) }
        queue.append(urlQuery ?? [])
        // Another "&" would make an empty parameter.
        if let last = urlQuery?.last, last != UInt8(ascii: "&"), !query.isEmpty {
            queue.append(byte: UInt8(ascii: "&"))
        }
        queue.append(query.rendered(for: call))
        return queue.readable.array
    }

    /// Whether a segment is `.` or `..`, by which a value would lead out of the path that the configuration means.
    private static func hasDotSegment(_ path: [UInt8]) -> Bool {
        path.split(separator: UInt8(ascii: "/")).contains {
            $0.elementsEqual([0x2e]) || $0.elementsEqual([0x2e, 0x2e])
        }
    }
}
