internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC
internal import Telemetry

/// Writes one line of JSON for every call.
struct LogPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "log",
        summary: "Writes one line of JSON for each call when it ends.",
        options: [
            Option(
                "to",
                .string,
                default: "stdout",
                example: "/var/log/martlet/calls.log",
                "The destination: `stdout`, `stderr` or a file. SIGUSR1 opens the file again."
            ),
            Option(
                "mode",
                .string,
                example: "\"0640\"",
                "The permissions of the file in octal digits. The default for a new file is 0640 less the umask."
            ),
            Option(
                "headers",
                .strings,
                example: "user-agent",
                "Request headers to log, as they go to the upstream. Credentials and redacted headers are masked."
            ),
        ],
        plan: { LogPlan($0, $1) }
    )

    let events: EventSet = .finished
    let destination: LogDestination
    let headers: [FieldName]

    init(_ section: Section, _ context: BuildContext) {
        destination = LogDestination("to", mode: "mode", of: section, context)
        headers = section.markedStrings("headers").map {
            HeaderName.valid($0.text, at: $0.mark, into: section.diagnostics)
        }
    }

    func instance(on worker: WorkerServices) -> any Interceptor { LogInterceptor(self, on: worker) }
}

/// Writes the lines of one worker's calls.
final class LogInterceptor: Interceptor {
    private let sink: LineSink
    private let headers: [(name: FieldName, isSecret: Bool)]

    init(_ plan: LogPlan, on worker: WorkerServices) {
        sink = LineSink(plan.destination, on: worker)
        headers = plan.headers.map { ($0, SecretName.matches($0.bytes.span)) }
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
        for (header, isSecret) in headers {
            guard let index = request.first(header) else { continue }
            let (name, value) = (header.bytes.span, request.value(at: index))
            if isSecret || call.redactions.names(name) {
                line.field(named: name, text: MaskedText.mask)
            } else if MaskedText.mayHide(value), let masked = MaskedText.masked(value.array) {
                line.field(named: name, text: masked.span)
            } else {
                line.field(named: name, text: value)
            }
        }
        line.endObject()
    }
}
