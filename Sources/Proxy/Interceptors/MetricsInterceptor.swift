internal import Bytes
internal import Configuration
internal import Dialects
internal import HTTP
internal import RPC
internal import Telemetry

/// Counts calls.
final class MetricsInterceptor: Interceptor {
    static let kind = InterceptorKind(
        name: "metrics",
        summary: "Counts and times the calls, by service, method and code.",
        options: [
            Option(
                "methods",
                .integer(in: 0...10_000),
                default: "200",
                "How many methods are counted by name; the others are _OTHER."
            )
        ],
        make: { section, _ in MetricsInterceptor(methods: section.integer("methods")) }
    )

    let events: EventSet = [.requestHead, .messageCounts, .finished]
    private let methods: Int

    init(methods: Int) {
        self.methods = methods
    }

    func requestHead(_ call: Call) -> Verdict {
        guard call.counted == nil else { return .next }
        call.worker.counters.setMethodLimit(methods)
        let request = call.request
        call.counted = call.worker.counters.start(request.path, call.classification.dialect.callProtocol)
        return .next
    }

    func finished(_ call: Call) {
        guard let counted = call.counted else { return }
        call.counted = nil
        call.worker.counters.end(
            counted,
            route: call.routeNumber,
            code: call.record.code.rawValue,
            nanoseconds: Int(call.record.duration),
            messages: call.messageCounts
        )
    }
}

extension Dialect {
    /// What the call is counted under.
    fileprivate var callProtocol: CallProtocol {
        switch self {
        case .connectUnary, .connectGet, .connectStream: .connect
        case .grpc: .grpc
        case .grpcWeb, .grpcWebText: .grpcWeb
        case .http: .http
        }
    }
}
