internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC

/// Responds to every call itself.
struct RespondPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "respond",
        summary: """
            Responds with a message in the caller's protocol, or with a plain HTTP response. The call does not \
            reach the upstream.
            """,
        responds: true,
        options: [
            Option("json", .node, "The message: a YAML value, or a string of JSON."),
            Option("status", .integer(in: 200...599), default: "200", "The HTTP status of a plain HTTP response."),
            Option("headers", .map, "The headers of a plain HTTP response."),
            Option("body", .string, default: "", "The body of a plain HTTP response."),
        ],
        plan: { section, _ in RespondPlan(section) }
    )

    let events: EventSet = .requestHead
    let message: [UInt8]?
    let plain: LocalResponse

    init(_ section: Section) {
        message = section.json("json")
        if message != nil {
            for key in ["status", "headers", "body"] where section.has(key) {
                section.reportConflict("json", key)
            }
        }
        var headers: [(name: [UInt8], value: [UInt8])] = []
        for entry in section.map("headers") {
            if entry.name.lowercased() != "content-type" {
                _ = HeaderName.checked(entry.name, at: entry.nameMark, into: section.diagnostics)
            }
            HeaderValue.check(entry.text, at: entry.mark, into: section.diagnostics)
            headers.append((Array(entry.name.lowercased().utf8), Array(entry.text.utf8)))
        }
        plain = LocalResponse(
            status: section.integer("status"),
            headers: headers,
            body: Array(section.string("body").utf8)
        )
    }

    func instance(on worker: WorkerServices) -> any Interceptor { RespondInterceptor(self) }
}

/// Responds to one worker's calls.
final class RespondInterceptor: Interceptor {
    private let message: [UInt8]?
    private let plain: LocalResponse

    init(_ plan: RespondPlan) {
        (message, plain) = (plan.message, plan.plain)
    }

    func requestHead(_ call: Call) -> Verdict {
        guard let message else { return .respond(plain) }
        let received = call.received
        if let error = call.errorAsRPC { return .reject(error) }
        do throws(RPCError) {
            guard let type = received.first(.contentType) else { return .respond(try response(message, call, Span())) }
            return .respond(try response(message, call, received.value(at: type)))
        } catch {
            return .reject(error)
        }
    }

    private func response(_ json: [UInt8], _ call: Call, _ contentType: Span<UInt8>) throws(RPCError) -> LocalResponse {
        if call.lacksMessageTypes, let missing = call.missingTypes { throw missing }
        guard call.rpcProtocol != .http, call.codec == .proto, !call.lacksMessageTypes else {
            return try call.rpcProtocol.callerSide.response(
                message: json,
                codec: call.codec,
                requestContentType: contentType
            )
        }
        return try call.rpcProtocol.callerSide.response(
            encoded: call.message(json: json.span, .response),
            codec: call.codec,
            requestContentType: contentType
        )
    }
}
