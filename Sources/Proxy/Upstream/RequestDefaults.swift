internal import Bytes
internal import Configuration
internal import HTTP

/// The headers and the parameters of the query that requests to an upstream get where they do not have them.
final class RequestDefaults: Sendable {
    private let headers: [(name: FieldName, value: Template)]
    private let query: [(name: [UInt8], value: Template)]

    /// Compiles the settings and reports what is wrong with them; none if they say nothing.
    init?(_ settings: UpstreamDefaults, into diagnostics: Diagnostics) {
        headers = settings.headers.map {
            let name = HeaderName.checked($0.name, at: $0.nameMark, into: diagnostics)
            return (name, Template($0.text, at: $0.mark, into: diagnostics))
        }
        query = settings.query.map { (Array($0.name.utf8), Template($0.text, at: $0.mark, into: diagnostics)) }
        if headers.isEmpty, query.isEmpty { return nil }
    }

    /// Completes the head of the call's request.
    func add(to call: Call) {
        let request = call.request
        for (name, template) in headers where request.first(name) == nil {
            render(template, call) { request.add(name, $0) }
        }
        // What is asked of the server as a whole has no query.
        if !query.isEmpty, !request.path.equals("*") { addQuery(call) }
    }

    private func addQuery(_ call: Call) {
        let request = call.request
        let target = call.worker.acquireQueue()
        target.append(request.target)
        for (index, (name, template)) in query.enumerated() {
            if index > 0 || request.query.count > 0 {
                target.append("&")
            } else if request.target.count == request.path.count {
                target.append("?")
            }
            target.append(escaping: name.span)
            target.append("=")
            render(template, call) { target.append(escaping: $0) }
        }
        request.setTarget(target.readable)
        call.worker.release(target)
    }

    private func render(_ template: Template, _ call: Call, _ use: (Span<UInt8>) -> Void) {
        let value = call.worker.acquireQueue()
        template.render(for: call, to: value)
        use(value.readable)
        call.worker.release(value)
    }
}
