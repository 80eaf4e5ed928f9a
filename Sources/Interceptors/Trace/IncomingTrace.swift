internal import Bytes
internal import HTTP
internal import Proxy
internal import Telemetry

/// What the head of a request says of the trace that its call belongs to.
enum IncomingTrace {
    /// The span of the caller.
    case span(TraceContext)
    /// The span of a caller who leaves it to others whether it is recorded.
    case undecided(TraceContext)
    /// No span, but whether there is to be one.
    case decision(isSampled: Bool)
    /// Nothing that can be used.
    case none

    private static let traceparent = FieldName("traceparent")
    private static let b3 = FieldName("b3")
    private static let b3Trace = FieldName("x-b3-traceid")
    private static let b3Span = FieldName("x-b3-spanid")
    private static let b3Flags = FieldName("x-b3-flags")
    private static let b3Sampled = FieldName("x-b3-sampled")

    /// Reads the headers of some formats; `traceparent` comes first.
    init(_ request: HTTPHead, _ formats: CallTracing.Headers) {
        if formats.contains(.traceparent), let index = Self.only(Self.traceparent, in: request),
            let context = TraceContext(traceparent: request.value(at: index))
        {
            self = .span(context)
            return
        }
        self = formats.contains(.b3) ? Self.b3(request) : .none
    }

    private static func b3(_ request: HTTPHead) -> IncomingTrace {
        let reading: B3Context.Reading?
        let sampled = only(b3Sampled, in: request)
        if let index = only(b3, in: request) {
            reading = B3Context.read(single: request.value(at: index))
        } else if let trace = only(b3Trace, in: request), let span = only(b3Span, in: request) {
            let isDebug = only(b3Flags, in: request).map { request.value(at: $0).equals("1") } ?? false
            let flag = isDebug ? [UInt8(ascii: "d")] : sampled.map { request.value(at: $0).array } ?? []
            reading = B3Context.read(trace: request.value(at: trace), span: request.value(at: span), sampled: flag.span)
        } else {
            reading = sampled.flatMap { B3Context.read(single: request.value(at: $0)) }
        }
        switch reading {
        case .span(let context, let isDecided): return isDecided ? .span(context) : .undecided(context)
        case .decision(let isSampled): return .decision(isSampled: isSampled)
        case nil: return .none
        }
    }

    /// The field, if it is there once: of two nobody knows which is meant.
    private static func only(_ name: FieldName, in request: HTTPHead) -> Int? {
        guard let index = request.first(name), request.first(name, from: index + 1) == nil else { return nil }
        return index
    }
}
