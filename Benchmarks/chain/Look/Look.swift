internal import Bytes
internal import Configuration
internal import Protocols
internal import Proxy
internal import RPC
internal import Sidecar

/// Martlet with two kinds more: `look` and `stream`.
@main
enum Main {
    static func main() {
        Martlet.main(adding: [LookPlan.kind, StreamPlan.kind])
    }
}

/// Asks for all messages of a call, and changes none.
struct LookPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "look",
        summary: "Looks at all messages.",
        options: [],
        plan: { _, _ in LookPlan() }
    )

    let events: EventSet = [.requestMessages, .responseMessages]

    func instance(on worker: WorkerServices) -> any Interceptor { LookInterceptor() }
}

/// Looks at the messages of one worker's calls.
final class LookInterceptor: Interceptor {
    /// Bytes seen, so that nothing of it can be left out.
    private var seen = 0

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        seen &+= payload.count
        return .next
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        seen &+= payload.count
        return .next
    }
}

/// Responds with a Connect stream of some messages.
struct StreamPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "stream",
        summary: "Responds with a Connect stream.",
        responds: true,
        options: [
            Option("message", .string, required: true, "The message."),
            Option("times", .integer(in: 1...1000), default: "10", "How many there are of it."),
        ],
        plan: { section, _ in StreamPlan(section) }
    )

    let events: EventSet = .requestHead
    private let response: LocalResponse

    init(_ section: Section) {
        let body = ByteQueue()
        let message = Array(section.string("message").utf8)
        for _ in 0..<section.integer("times") { body.append(enveloping: message.span) }
        body.append(enveloping: Array("{}".utf8).span, flags: Envelope.endStream)
        let type = (name: Array("content-type".utf8), value: Array("application/connect+json".utf8))
        response = LocalResponse(status: 200, headers: [type], body: body.readable.array)
    }

    func instance(on worker: WorkerServices) -> any Interceptor { StreamInterceptor(response) }
}

/// Responds to one worker's calls.
final class StreamInterceptor: Interceptor {
    private let response: LocalResponse

    init(_ response: LocalResponse) { self.response = response }

    func requestHead(_ call: Call) -> Verdict {
        .respond(response)
    }
}
