internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC
internal import Time

/// Makes a named call of each call, and responds with its result.
struct CallPlan: InterceptorPlan, Pointing {
    static let kind = InterceptorKind(
        name: "call",
        summary: """
            Makes a call from `calls` with the values of the request, and responds with its result. The interceptors \
            after it do not see the call.
            """,
        responds: true,
        options: [
            Option("name", .string, required: true, example: "search_movie", "The name of a call in `calls`."),
            Option("timeout", .timeout, "The time limit of the call, if it is shorter than `timeout` in `calls`."),
            Option(
                "result",
                .string,
                example: "json:/results/0",
                "The part of the response that is the result, as a JSON Pointer. The default is the whole response."
            ),
        ],
        shorthand: "name",
        plan: { CallPlan($0, $1) }
    )

    let events: EventSet = .requestHead
    /// The call; none if there is none of its name, which was reported.
    let entry: NamedCalls.Entry?
    let timeout: Duration?
    /// The part of the response that is the result; none is all of it.
    let result: JSONPointer?
    let places: [MessagePlace]

    init(_ section: Section, _ context: BuildContext) {
        entry = context.resources.calls.entry(section, "name", givesArguments: true)
        timeout = [section.duration("timeout"), entry?.call.settings.timeout].compactMap { $0 }.min()
        result = Self.result(section)
        places = (entry?.call.settings.parameters ?? []).compactMap { parameter in
            let text = "/\(parameter.name)"
            return JSONPointer(text).map { MessagePlace($0, text: text, at: parameter.mark, .request, .body) }
        }
    }

    private static func result(_ section: Section) -> JSONPointer? {
        guard let text = section.string(ifGiven: "result") else { return nil }
        if text.hasPrefix("json:"), let pointer = JSONPointer(String(text.dropFirst(5))) { return pointer }
        section.report("\(Diagnostic.quote(text)) is not a part of JSON; write for example json:/results", at: "result")
        return nil
    }

    func instance(on worker: WorkerServices) -> any Interceptor { CallInterceptor(self, on: worker) }
}

/// Makes the named call for the calls of one worker.
final class CallInterceptor: Interceptor {
    private let server: CallServer?

    init(_ plan: CallPlan, on worker: WorkerServices) {
        server = plan.entry.map { CallServer($0, plan, on: worker) }
    }

    func requestHead(_ call: Call) -> Verdict {
        guard let server else { return .next }
        if call.rpcProtocol != .http, let error = call.errorAsRPC { return .reject(error) }
        let request = call.request
        if server.hasEffects, request.method.equals("GET") || request.method.equals("HEAD") {
            // Whoever follows a link has nothing done by it (RFC 9110 §9.2.1).
            var error = RPCError(.unknown, "the method is not allowed; use POST", httpStatus: 405)
            if call.rpcProtocol == .http { error.metadata = [("allow", "POST")] }
            return .reject(error)
        }
        if call.lacksMessageTypes {
            let text = "the message is in Protobuf, and Martlet does not know its type; send JSON"
            return .reject(call.missingTypes ?? RPCError(.unimplemented, text))
        }
        return .serve(server.upstream) { ServedCall($0, server) }
    }
}

/// A named call as one worker makes it for callers.
final class CallServer {
    let entry: NamedCalls.Entry
    let timeout: Duration?
    let result: JSONPointer?
    let fetches: SharedFetches
    /// What metrics and logs know it by.
    let upstream: LocalUpstream

    init(_ entry: NamedCalls.Entry, _ plan: CallPlan, on worker: WorkerServices) {
        (self.entry, timeout, result) = (entry, plan.timeout, plan.result)
        fetches = worker.fetches
        upstream = worker.localUpstream(named: entry.call.settings.name)
    }

    var name: String { entry.call.settings.name }

    /// Whether the request asks for more than to read something (RFC 9110 §9.2.1).
    var hasEffects: Bool { !["GET", "HEAD", "OPTIONS"].contains(entry.call.settings.method) }
}
