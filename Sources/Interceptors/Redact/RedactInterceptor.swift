internal import Configuration
internal import Documents
internal import HTTP
internal import Proxy

/// Keeps headers and parts of messages out of what people read; nothing of a call is changed.
struct RedactPlan: InterceptorPlan, Redacting, Pointing {
    static let kind = InterceptorKind(
        name: "redact",
        summary: """
            Masks the values of headers and parts of JSON messages in all that Martlet writes or shows about the \
            calls of its chain, at any position. Headers and parameters that are named like credentials are always masked.
            """,
        options: [
            Option("headers", .strings, example: "x-session", "Headers whose values are masked."),
            Option(
                "json",
                .strings,
                example: "/user/password",
                """
                JSON Pointers to the parts of messages to mask. `*` stands for every item or member. Messages that \
                are neither JSON nor of a known type are then hidden.
                """
            ),
        ],
        plan: { section, _ in RedactPlan(section) }
    )

    let events: EventSet = []
    let redactions: Redactions
    let places: [MessagePlace]

    init(_ section: Section) {
        let diagnostics = section.diagnostics
        let headers = section.markedStrings("headers").map { HeaderName.valid($0.text, at: $0.mark, into: diagnostics) }
        places = section.markedStrings("json").compactMap { text in
            guard let pointer = JSONPointer(text.text) else {
                let problem = "\(Diagnostic.quote(text.text)) is not a JSON Pointer"
                diagnostics.report("\(problem); write for example /user/password", at: text.mark)
                return nil
            }
            return MessagePlace(pointer, text: text.text, at: text.mark, nil, .messageOrError)
        }
        if headers.isEmpty, section.strings("json").isEmpty {
            diagnostics.report("the interceptor redacts nothing; add \"headers\" or \"json\"", at: section.mark)
        }
        redactions = Redactions(headers: headers, pointers: places.map(\.pointer))
    }

    func instance(on worker: WorkerServices) -> any Interceptor { RedactInterceptor() }
}

/// Has no part in calls: what its plan says is done by those that show something.
final class RedactInterceptor: Interceptor {}
