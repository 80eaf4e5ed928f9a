internal import Bytes
internal import Configuration
internal import HTTP
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// Makes spans of calls, and tells upstreams of them.
struct TracePlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "trace",
        summary: """
            Makes a span of each call and of each attempt, and tells the upstream of it in `traceparent`. `telemetry` \
            says where the spans go.
            """,
        options: [
            Option(
                "sample",
                .string,
                example: "0.01",
                """
                The share of calls to trace that come without a trace, from 0 to 1. Others follow their callers. The \
                default is `OTEL_TRACES_SAMPLER_ARG`, or 0.
                """
            ),
            Option(
                "errors",
                .bool,
                default: "false",
                "Exports the spans of calls that fail, even if nobody has sampled them."
            ),
            Option(
                "slow",
                .timeout,
                example: "1s",
                "Exports the spans of calls that take longer, even if nobody has sampled them."
            ),
            Option(
                "formats",
                .choices(["tracecontext", "b3"]),
                default: "tracecontext",
                "The headers to read and to write: `traceparent` of W3C, or `b3` of Zipkin."
            ),
            Option(
                "attributes",
                .map,
                example: "{ tenant: \"{header:x-tenant}\" }",
                "More attributes of the spans of calls. The values are templates."
            ),
        ],
        plan: { TracePlan($0, $1) }
    )

    let events: EventSet = [.requestHead, .finished]
    let sample: Double
    let exportsErrors: Bool
    let slow: Duration?
    let formats: CallTracing.Headers
    let attributes: [(name: String, value: Template)]

    init(_ section: Section, _ context: BuildContext) {
        let text = section.string(ifGiven: "sample")
        let share = text.map(Double.init) ?? context.resources.sample ?? 0
        if let share, 0...1 ~= share {
            sample = share
        } else {
            section.report(
                "\"sample\" cannot be \(Diagnostic.quote(text ?? "")); write a number from 0 to 1",
                at: "sample"
            )
            sample = 0
        }
        exportsErrors = section.bool("errors")
        slow = section.duration("slow")
        let names = section.strings("formats")
        section.reportIfEmpty("formats", write: "tracecontext or b3")
        formats = [names.contains("tracecontext") ? .traceparent : [], names.contains("b3") ? .b3 : []]
        attributes = section.map("attributes").map { attribute in
            (attribute.name, Template(attribute.text, at: attribute.mark, into: section.diagnostics))
        }
    }

    /// Whether spans may be exported that nobody has sampled.
    var mayBeLate: Bool { exportsErrors || slow != nil }

    func instance(on worker: WorkerServices) -> any Interceptor { TraceInterceptor(self, on: worker) }
}

/// Makes the spans of one worker's calls.
final class TraceInterceptor: Interceptor {
    private let plan: TracePlan
    private let attributes: [(name: String, value: Template)]
    private let worker: WorkerServices
    private let buffer: SpanBuffer

    private static let tracestate = FieldName("tracestate")

    init(_ plan: TracePlan, on worker: WorkerServices) {
        self.plan = plan
        self.worker = worker
        attributes = plan.attributes.map { ($0.name, $0.value.copy) }
        buffer = SpanBuffer.shared(in: worker.shared)
    }

    func requestHead(_ call: Call) -> Verdict {
        guard call.tracing == nil else { return .next }
        switch IncomingTrace(call.request, plan.formats) {
        case .span(let caller):
            // What nobody records passes as it is.
            guard caller.isSampled || plan.mayBeLate else { return .next }
            let context = caller.with(span: makeID())
            call.tracing = CallTracing(
                context,
                parent: caller.span,
                headers: caller.isSampled ? plan.formats : [],
                mayBeLate: plan.mayBeLate
            )
        case .undecided(let caller):
            let isSampled = worker.randomFraction() < plan.sample
            let context = TraceContext(
                traceHigh: caller.traceHigh,
                traceLow: caller.traceLow,
                span: makeID(),
                isSampled: isSampled
            )
            call.tracing = CallTracing(context, parent: caller.span, headers: plan.formats, mayBeLate: plan.mayBeLate)
        case .decision(let isSampled): begin(call, isSampled: isSampled)
        case .none:
            // It belongs to a trace that cannot be read.
            if plan.formats.contains(.traceparent) { call.request.remove(Self.tracestate) }
            begin(call, isSampled: worker.randomFraction() < plan.sample)
        }
        return .next
    }

    /// Begins a trace.
    private func begin(_ call: Call, isSampled: Bool) {
        let context = TraceContext(
            traceHigh: worker.randomBits(),
            traceLow: makeID(),
            span: makeID(),
            isSampled: isSampled
        )
        call.tracing = CallTracing(context, parent: nil, headers: plan.formats, mayBeLate: plan.mayBeLate)
    }

    /// A random number that is not zero.
    private func makeID() -> UInt64 { max(1, worker.randomBits()) }

    func finished(_ call: Call) {
        // Another interceptor of the kind has nothing to add.
        guard let tracing = call.tracing, tracing.exported == nil else { return }
        let isLate = !tracing.context.isSampled
        guard !isLate || isWorthIt(call), buffer.isUsed else { return }
        let mask = attributes.isEmpty ? nil : CallMask(call)
        let own = attributes.map { name, template in
            let value = template.value(for: call)
            return SpanRecord.Attribute(name, .text(mask?.text(value) ?? value))
        }
        buffer.append(call.spanRecords(own, isLate: isLate))
        call.noteExport()
    }

    private func isWorthIt(_ call: Call) -> Bool {
        plan.exportsErrors && call.code != .ok || plan.slow.map { call.duration >= $0 } ?? false
    }
}
