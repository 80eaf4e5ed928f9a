internal import Configuration
internal import Proxy
internal import Telemetry
internal import Time

/// Counts calls.
struct MetricsPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "metrics",
        summary: "Counts calls and measures their time, by service, method and code.",
        options: [
            Option(
                "methods",
                .integer(in: 0...10_000),
                default: "200",
                "The limit of methods with a name in the metrics. Other methods are counted as `_OTHER`."
            ),
            Option(
                "buckets",
                .strings,
                example: "[1ms, 10ms, 100ms, 1s]",
                """
                The upper bounds of the histogram buckets, ascending, at most \(HistogramBounds.maxCount). The \
                default is 100us to 10s. All `metrics` interceptors share one list.
                """
            ),
        ],
        plan: { MetricsPlan($0, $1) }
    )

    let events: EventSet = [.requestHead, .messageCounts]
    let methods: Int

    init(_ section: Section, _ context: BuildContext) {
        methods = section.integer("methods")
        Self.readBuckets(section, context.resources)
    }

    func instance(on worker: WorkerServices) -> any Interceptor { MetricsInterceptor(self) }
}

/// Counts one worker's calls.
final class MetricsInterceptor: Interceptor {
    private let methods: Int

    init(_ plan: MetricsPlan) {
        methods = plan.methods
    }

    func requestHead(_ call: Call) -> Verdict {
        call.startCounting(methods: methods)
        return .next
    }
}

extension MetricsPlan {
    /// Takes the buckets that the file names; all interceptors of a file share one list.
    private static func readBuckets(_ section: Section, _ resources: BuildResources) {
        guard section.has("buckets"), let bounds = bounds(section) else { return }
        let mark = section.mark(of: "buckets")
        if let other = resources.buckets, other.bounds != bounds {
            let (first, second) = mark < other.mark ? (mark, other.mark) : (other.mark, mark)
            let problem = "\"buckets\" differs from the list on line \(first.line)"
            section.diagnostics.report(
                "\(problem); all metrics interceptors share one list, so write it only once",
                at: second
            )
        } else {
            resources.buckets = (bounds, mark)
        }
    }

    /// The bounds that a list names; nil if something is wrong with it, which is reported.
    private static func bounds(_ section: Section) -> HistogramBounds? {
        let texts = section.markedStrings("buckets")
        section.reportIfEmpty("buckets", write: "bounds such as [1ms, 10ms]")
        guard texts.count <= HistogramBounds.maxCount else {
            let problem = "\"buckets\" has \(texts.count) bounds"
            section.report("\(problem); write at most \(HistogramBounds.maxCount)", at: "buckets")
            return nil
        }
        var bounds: [Int] = []
        for text in texts {
            let quoted = Diagnostic.quote(text.text)
            guard let duration = Duration(text: text.text), duration > .zero else {
                section.diagnostics.report(
                    "\(quoted) is not a valid bucket; write for example 500us or 10ms",
                    at: text.mark
                )
                continue
            }
            let bound = Int(duration.nanoseconds)
            if let last = bounds.last, bound <= last {
                section.diagnostics.report(
                    "\(quoted) is not greater than the bucket before it; sort the list",
                    at: text.mark
                )
            }
            bounds.append(bound)
        }
        let isGood = !bounds.isEmpty && bounds.count == texts.count && zip(bounds, bounds.dropFirst()).allSatisfy(<)
        return isGood ? HistogramBounds(bounds) : nil
    }
}
