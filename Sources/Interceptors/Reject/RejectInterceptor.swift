internal import Configuration
internal import Proxy
public import RPC

/// Ends every call with an error.
struct RejectPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "reject",
        summary: "Ends the call with an error in the caller's protocol. The call does not reach the upstream.",
        responds: true,
        options: [
            Option(
                "code",
                .choice(RPCCode.errorNames),
                required: true,
                example: "permission_denied",
                "The code of the error."
            ),
            Option("message", .string, "The message of the error."),
            Option("details", .sections(detailOptions), "The typed details of the error."),
            Option(
                "metadata",
                .map,
                "Fields to add to the headers, or to the trailers if the protocol has errors there."
            ),
        ],
        plan: { section, _ in RejectPlan(section) }
    )

    private static let detailOptions = [
        Option("type", .string, required: true, example: "google.rpc.RetryInfo", "The full name of the message type."),
        Option("value", .string, default: "", "The serialized message in base64."),
    ]

    let events: EventSet = .requestHead
    private let error: RPCError

    init(_ section: Section) {
        let details = section.sections("details").map { detail in
            let value = Base64.decode(Array(detail.string("value").utf8).span)
            if value == nil {
                detail.report("the value of a detail is not valid base64; write for example CgVoZWxsbw==", at: "value")
            }
            return ErrorDetail(type: detail.string("type"), value: value ?? [])
        }
        let metadata = section.map("metadata").map { entry in
            _ = HeaderName.checked(entry.name, at: entry.nameMark, into: section.diagnostics)
            HeaderValue.check(entry.text, at: entry.mark, into: section.diagnostics)
            return (name: entry.name.lowercased(), value: entry.text)
        }
        error = RPCError(
            RPCCode(name: section.string("code")) ?? .unknown,
            section.string("message"),
            details: details,
            metadata: metadata
        )
    }

    func instance(on worker: WorkerServices) -> any Interceptor { RejectInterceptor(error) }
}

/// Rejects one worker's calls.
final class RejectInterceptor: Interceptor {
    private let error: RPCError

    init(_ error: RPCError) { self.error = error }

    func requestHead(_ call: Call) -> Verdict {
        .reject(error)
    }
}

extension RPCCode {
    /// The names of all codes but `ok`, as options spell them.
    public static let errorNames = RPCCode.allCases.dropFirst().map { "\($0.name)" }
}
