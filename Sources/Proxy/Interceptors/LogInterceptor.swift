internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
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
                "mode",
                .string,
                example: "\"0640\"",
                "The permission bits of the file in octal digits; if absent, a new file gets 0640 less the umask."
            ),
            Option(
                "headers",
                .strings,
                example: "user-agent",
                "Headers of the request to be in the line, as they go upstream; what is redacted is masked."
            ),
        ],
        make: { LogInterceptor($0, $1) }
    )

    let events: EventSet = .finished
    private let sink: LineSink
    private let headers: [FieldName]

    init(_ section: Section, _ context: CompileContext) {
        sink = LineSink("to", mode: "mode", of: section, context)
        headers = section.markedStrings("headers").map {
            HeaderName.valid($0.text, at: $0.mark, into: section.diagnostics)
        }
    }

    func finished(_ call: Call) {
        sink.line(about: call) { line in
            line.describe(call) { line in
                if !headers.isEmpty { writeHeaders(call, to: &line) }
            }
        }
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
}
