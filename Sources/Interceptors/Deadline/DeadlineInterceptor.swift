internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import Proxy
internal import Time

/// Gives calls a time-out, or a shorter one than they bring.
struct DeadlinePlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "deadline",
        summary:
            "Limits the time of a call from its arrival, and sends the remaining time to the upstream.",
        options: timeOptions + [
            Option(
                "methods",
                .named(timeOptions),
                "Other times for one method, `pkg.Service/Method`, or one service, `pkg.Service/*`."
            )
        ],
        plan: { section, _ in DeadlinePlan(section) }
    )

    private static let timeOptions = [
        Option("default", .timeout, example: "10s", "The time limit of a call whose caller sets none."),
        Option(
            "max",
            .timeout,
            example: "1m",
            "The upper limit of a call's time. It also applies to callers that set a longer one."
        ),
    ]

    let events: EventSet = .requestHead
    private let times: Times
    private let methods: [(name: [UInt8], times: Times)]
    private let services: [(name: [UInt8], times: Times)]

    init(_ section: Section) {
        let times = Times(section, else: Times())
        self.times = times
        let named = section.named("methods").map { entry in
            Self.check(entry.name, at: entry.mark, into: section.diagnostics)
            return (name: entry.name, times: Times(entry.section, else: times))
        }
        Self.checkUse(section)
        methods = named.filter { !$0.name.hasSuffix("/*") }.map { (Array($0.name.utf8), $0.times) }
        services = named.filter { $0.name.hasSuffix("/*") }.map { (Array($0.name.dropLast(2).utf8), $0.times) }
    }

    /// Reports what bounds no time.
    private static func checkUse(_ section: Section) {
        let isGiven = { (section: Section) in section.has("default") || section.has("max") }
        let isNone = { (section: Section) in
            ["default", "max"].allSatisfy { !section.has($0) || section.node($0)?.text == "none" }
        }
        let methods = section.named("methods")
        for method in methods where !isGiven(method.section) {
            let problem = "\(Diagnostic.quote(method.name)) changes nothing"
            section.diagnostics.report("\(problem); add \"default\" or \"max\", or remove it", at: method.mark)
        }
        guard isNone(section), methods.allSatisfy({ isGiven($0.section) && isNone($0.section) }) else { return }
        let advice = "add \"default\" or \"max\", for example max: 1m"
        section.diagnostics.report("the interceptor has no time limit; \(advice)", at: section.mark)
    }

    private static func check(_ name: String, at mark: Mark, into diagnostics: Diagnostics) {
        let method = name.hasSuffix("/*") ? "\(name.dropLast())Any" : name
        let path = Array("/\(method)".utf8)
        // A prefix of the path would be taken for one of the name, which no call has.
        guard Procedure(path: path.span)?.service.lowerBound != 1 else { return }
        let advice = "write pkg.Service/Method or pkg.Service/*"
        diagnostics.report("\(Diagnostic.quote(name)) is not a valid method; \(advice)", at: mark)
    }

    func instance(on worker: WorkerServices) -> any Interceptor { DeadlineInterceptor(self) }

    /// The times of a call.
    func times(for call: Call) -> Times {
        guard !methods.isEmpty || !services.isEmpty, let procedure = call.rpcProcedure else { return times }
        let request = call.request
        let path = request.path
        let method = path.extracting(procedure.service.lowerBound..<procedure.method.upperBound)
        for index in methods.indices where method.equals(methods[index].name) { return methods[index].times }
        let service = path.extracting(procedure.service)
        for index in services.indices where service.equals(services[index].name) { return services[index].times }
        return times
    }
}

/// Gives calls their time-outs.
final class DeadlineInterceptor: Interceptor {
    private let plan: DeadlinePlan

    init(_ plan: DeadlinePlan) { self.plan = plan }

    func requestHead(_ call: Call) -> Verdict {
        let times = plan.times(for: call)
        // The caller's own time is in force already.
        if let limit = call.deadlineTime == nil ? times.withoutCallers : times.maximum { call.limitTime(to: limit) }
        return .next
    }
}

/// The times that some calls get; nil is without end.
struct Times {
    private(set) var usual: Duration?
    private(set) var maximum: Duration?

    init() {}

    /// Reads the times; what is not said is as in `other`.
    init(_ section: Section, else other: Times) {
        let time = { (key: String) in section.duration(key) }
        usual = section.has("default") ? time("default") : other.usual
        maximum = section.has("max") ? time("max") : other.maximum
        guard section.has("default"), section.has("max"), let usual, let maximum, usual > maximum else { return }
        section.report("\"default\" cannot be longer than \"max\"; write a shorter duration", at: "default")
    }

    /// The time of a call whose caller brings none.
    var withoutCallers: Duration? {
        guard let usual, let maximum else { return usual ?? maximum }
        return min(usual, maximum)
    }
}
