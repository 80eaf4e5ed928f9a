internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// Rejects calls that are too many, too fast or too large.
struct LimitPlan: InterceptorPlan, Limiting {
    static let kind = InterceptorKind(
        name: "limit",
        summary:
            """
            Rejects calls that are too frequent, too many at a time or too large. All workers, and all \
            interceptors of the same name and settings, share one count.
            """,
        options: [
            Option(
                "rate",
                .string,
                example: "100/s",
                "The limit of calls per second (`/s`), minute (`/m`) or hour (`/h`)."
            ),
            Option(
                "burst",
                .integer(in: 1...Rate.maxCount),
                example: "20",
                "The limit of calls at once within the rate. The default is the number in `rate`."
            ),
            Option("concurrency", .integer(in: 1...Rate.maxCount), example: "50", "The limit of concurrent calls."),
            Option(
                "key",
                .string,
                example: "\"{header:x-tenant}\"",
                """
                A template. `rate` and `concurrency` apply separately to each of its values. By default all calls \
                share them.
                """
            ),
            Option(
                "keys",
                .integer(in: 1...Rate.maxCount),
                default: "10000",
                "The limit of values that have their own count. Calls with other values share one count."
            ),
            Option("message", .size(in: 1...1 << 32), example: "4MiB", "The size limit of a request message."),
            Option(
                "header",
                .size(in: 1...1 << 24),
                example: "16KiB",
                "The size limit of the names and values of the request headers."
            ),
            Option(
                "code",
                .choice(RPCCode.errorNames),
                default: "resource_exhausted",
                "The code of the rejection."
            ),
            Option(
                "text",
                .string,
                "The message of the rejection. The default says which limit was reached, and when to retry."
            ),
        ],
        plan: { LimitPlan($0, $1) }
    )

    let events: EventSet
    let settings: LimitSettings
    /// Tells for whom a call counts, unless that is the same for all.
    let key: Template?
    let messageLimit: Int?
    let headerLimit: Int?
    let code: RPCCode
    let text: String?

    init(_ section: Section, _ context: BuildContext) {
        Self.check(section)
        let rate = Self.rate(section)
        settings = LimitSettings(
            name: context.name,
            rate: rate,
            burst: section.integer(ifGiven: "burst") ?? rate?.count ?? 0,
            concurrency: section.integer(ifGiven: "concurrency"),
            key: section.string("key"),
            keys: section.integer("keys")
        )
        let key = section.marked("key").map { Template($0.text, at: $0.mark, into: section.diagnostics) }
        self.key = key?.constant == nil ? key : nil
        messageLimit = section.integer(ifGiven: "message")
        headerLimit = section.integer(ifGiven: "header")
        code = RPCCode(name: section.string("code")) ?? .resourceExhausted
        text = section.string(ifGiven: "text")
        var events: EventSet = .requestHead
        if settings.concurrency != nil { events.insert(.finished) }
        if messageLimit != nil { events.insert(.requestMessages) }
        self.events = events
    }

    /// Whether calls are counted.
    var sharedLimit: LimitSettings? { settings.rate != nil || settings.concurrency != nil ? settings : nil }

    private static func check(_ section: Section) {
        if !["rate", "concurrency", "message", "header"].contains(where: section.has) {
            section.diagnostics.report(
                "the interceptor has no limit; add \"rate\", \"concurrency\", \"message\" or \"header\"",
                at: section.mark
            )
        }
        if section.has("burst"), !section.has("rate") {
            section.reportUnused("burst", without: "rate")
        }
        for key in ["key", "keys"] where section.has(key) && !section.has("rate") && !section.has("concurrency") {
            section.reportUnused(key, without: "rate", "concurrency")
        }
    }

    private static func rate(_ section: Section) -> Rate? {
        guard let text = section.marked("rate") else { return nil }
        let rate = Rate(text: text.text)
        if rate == nil {
            let advice = "write a number from 1 to \(Rate.maxCount) and /s, /m or /h, for example 100/s"
            section.report("\(Diagnostic.quote(text.text)) is not a rate; \(advice)", at: "rate")
        }
        return rate
    }

    func instance(on worker: WorkerServices) -> any Interceptor { LimitInterceptor(self, on: worker) }
}

/// Holds one worker's calls to the limits.
final class LimitInterceptor: Interceptor {
    /// What a call has taken of the limit, where that has to be given back.
    typealias CallState = Int

    private let plan: LimitPlan
    private let worker: WorkerServices
    private let shared: SharedLimit?
    private let scratch = ByteQueue(keeping: 256)

    init(_ plan: LimitPlan, on worker: WorkerServices) {
        self.plan = plan
        self.worker = worker
        shared = plan.sharedLimit.map { limit in worker.shared.object(limit) { SharedLimit(limit) } }
    }

    func requestHead(_ call: Call) -> Verdict {
        if let headerLimit = plan.headerLimit, call.request.fieldBytes > headerLimit {
            let status = plan.code == .resourceExhausted ? 431 : nil
            return rejection("the headers exceed \(headerLimit) bytes", httpStatus: status)
        }
        guard let shared else { return .next }
        // Where each attempt of a call comes here, the call is still one.
        if let before = call[stateOf: self].take() { shared.leave(before) }
        let admission = enter(shared, call)
        if admission.isCrowded { worker.limitHit(.keys) }
        switch admission.decision {
        case .admitted:
            if plan.settings.concurrency != nil { call[stateOf: self] = admission.slot }
            return .next
        case .tooMany:
            let maxConcurrency = plan.settings.concurrency ?? 0
            return rejection(
                maxConcurrency == 1
                    ? "another call is in progress, and the limit is 1"
                    : "\(maxConcurrency) calls are in progress, which is the limit"
            )
        case .tooFast(let wait):
            let seconds = (wait + .second - .nanoseconds(1)) / .second
            return rejection(
                "the rate limit is exceeded; retry in \(seconds)s",
                metadata: [("retry-after", "\(seconds)")]
            )
        }
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        guard let messageLimit = plan.messageLimit, payload.count > messageLimit else { return .next }
        return rejection("a request message exceeds \(messageLimit) bytes")
    }

    func finished(_ call: Call) {
        // A call that was not let in has taken nothing.
        if let slot = call[stateOf: self].take() { shared?.leave(slot) }
    }

    private func enter(_ shared: SharedLimit, _ call: Call) -> LimitBuckets.Admission {
        guard let key = plan.key else { return shared.enter(nil, at: call.now) }
        let scratch = scratch
        defer { scratch.removeAll() }
        key.renderNormal(for: call, to: scratch)
        return shared.enter(scratch.readable, at: call.now)
    }

    private func rejection(
        _ cause: String,
        metadata: [(name: String, value: String)] = [],
        httpStatus: Int? = nil
    ) -> Verdict {
        .reject(RPCError(plan.code, plan.text ?? cause, metadata: metadata, httpStatus: httpStatus))
    }
}

extension HTTPHead {
    /// The bytes of all names and values.
    fileprivate var fieldBytes: Int {
        var bytes = 0
        for index in 0..<count { bytes += name(at: index).count + value(at: index).count }
        return bytes
    }
}
