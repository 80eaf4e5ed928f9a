internal import Bytes
internal import Configuration
internal import Dialects
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// Writes one line of JSON for every call.
final class LogInterceptor: Interceptor {
    static let kind = InterceptorKind(
        name: "log",
        summary: "Writes one line of JSON for every call when it is over.",
        options: [
            Option(
                "to",
                .string,
                default: "stdout",
                example: "/var/log/martlet/calls.log",
                "Where: stdout, stderr or a file, which is opened again on SIGUSR1."
            ),
            Option(
                "headers",
                .strings,
                example: "user-agent",
                "Headers of the request to be in the line, as they go upstream; what is redacted is \"***\"."
            ),
        ],
        make: { LogInterceptor($0, $1) }
    )

    let events: EventSet = .finished
    private let sink: LineSink
    private let headers: [FieldName]

    init(_ section: Section, _ context: CompileContext) {
        sink = LineSink("to", of: section, context)
        headers = section.markedStrings("headers").map {
            HeaderName.valid($0.text, at: $0.mark, into: section.diagnostics)
        }
    }

    func finished(_ call: Call) {
        sink.line(about: call) { line in
            writeIdentity(call, to: &line)
            writeRequest(call, to: &line)
            if !headers.isEmpty { writeHeaders(call, to: &line) }
            writeOutcome(call, to: &line)
        }
    }

    private func writeIdentity(_ call: Call, to line: inout AccessLogLine) {
        let listener = call.listener.name
        line.field("listener", text: listener.span)
        let peer = call.peer.text
        line.field("peer", text: peer.span)
        line.field("dialect", text: call.classification.dialect.name)
    }

    /// Those of the headers that are there; of several with one name the first.
    private func writeHeaders(_ call: Call, to line: inout AccessLogLine) {
        let request = call.request
        line.beginObject("headers")
        for header in headers {
            guard let index = request.first(header) else { continue }
            let name = header.bytes.span
            if call.run.chain.redactions.contains(name) {
                line.field(named: name, text: Redactions.mask)
            } else {
                line.field(named: name, text: request.value(at: index))
            }
        }
        line.endObject()
    }

    private func writeRequest(_ call: Call, to line: inout AccessLogLine) {
        let request = call.request
        if let procedure = call.classification.procedure {
            line.field("service", text: request.path.extracting(procedure.service))
            line.field("method", text: request.path.extracting(procedure.method))
        } else {
            line.null("service")
            line.null("method")
        }
        line.field("http_method", text: request.method)
        line.field("host", text: request.authority)
        line.field("path", text: request.path)
        if let number = call.route.number { line.field("route", number: number) } else { line.null("route") }
        if let upstream = call.route.upstream {
            let name = upstream.name
            line.field("upstream", text: name.span)
        } else {
            line.null("upstream")
        }
    }

    private func writeOutcome(_ call: Call, to line: inout AccessLogLine) {
        let record = call.record
        line.field("code", text: record.code.name)
        line.field("status", number: record.status)
        line.field("request_bytes", number: record.requestBytes)
        line.field("response_bytes", number: record.responseBytes)
        line.field("duration_ms", millisecondsOf: Int(record.duration))
        line.beginObject("stages")
        let stages = record.stages
        if stages.forwarded > 0 { line.field("chain_ms", millisecondsOf: Int(stages.forwarded - stages.arrived)) }
        if stages.connected > 0 { line.field("connect_ms", millisecondsOf: Int(stages.connected - stages.forwarded)) }
        if stages.answered > 0 { line.field("first_byte_ms", millisecondsOf: Int(stages.answered - stages.connected)) }
        line.endObject()
        line.field("attempts", number: record.attempts)
        switch record.decider {
        case .upstream: line.field("decided_by", text: "upstream" as StaticString)
        case .martlet: line.field("decided_by", text: "martlet" as StaticString)
        case .caller: line.field("decided_by", text: "caller" as StaticString)
        case .interceptor(let name): line.field("decided_by", text: Array("interceptor:\(name)".utf8).span)
        }
        if !record.message.isEmpty { line.field("message", text: record.message.span) }
    }
}
