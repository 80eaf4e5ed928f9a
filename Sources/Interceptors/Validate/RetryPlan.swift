internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import Proxy
internal import RPC
internal import Time

/// How a request is retried: after which time, after what else, and which requests may be.
struct RetryPlan: Sendable {
    static let options =
        RetryDelay.optional + [
            Option(
                "after",
                .string,
                example: "login",
                "A call from `calls` that Martlet makes first. Calls that need the same one at a time share it."
            ),
            Option(
                "after_task",
                .section(taskOptions),
                "A program that Martlet runs first. If it fails, Martlet logs that and retries all the same."
            ),
            Option(
                "capture",
                .map,
                example: "{ token: \"json:/token\" }",
                """
                Names for captured values: `json:/…`, `header:x` or `status` of the call's response, or `json:/…` or \
                `text` of the program's output.
                """
            ),
            Option(
                "set",
                .map,
                example: "{ authorization: \"Bearer {token}\" }",
                """
                Headers to set on the retried request, with captured values. A header whose value is missing stays \
                unchanged.
                """
            ),
            Option("max_alt", .integer(in: 1...32), "The limit of calls in `after` for one call. The call then fails."),
            Option(
                "methods",
                .strings,
                example: "[pkg.Service/Get]",
                "More methods that may be retried, besides GET, HEAD, OPTIONS, PUT, DELETE and TRACE."
            ),
            Option(
                "allow_non_idempotent",
                .bool,
                default: "false",
                "Allows retries of requests that are not idempotent. The upstream may then process a request twice."
            ),
        ]

    private static let taskOptions = [
        Option(
            "exec",
            .strings,
            required: true,
            file: .start,
            example: "[/usr/bin/relogin]",
            "The program and its arguments."
        ),
        Option("timeout", .timeout, default: "10s", "The time limit of the program. Martlet then kills it."),
    ]

    /// The time before the request goes again.
    var delay: RetryDelay
    /// The call that is made first.
    var alternate: NamedCalls.Entry?
    /// The program that runs first.
    var task: [String]?
    let taskTimeout: Duration?
    let captures: [RetryCapture]
    let set: [(name: FieldName, value: Placeholders)]
    let maxAlternates: Int
    private let methods: [String]
    private let allowsAll: Bool

    /// Reads the options and reports what is wrong with them.
    init(_ section: Section, _ context: BuildContext) {
        delay = RetryDelay(section)
        alternate = context.resources.calls.entry(section, "after")
        let taskSection = section.section("after_task")
        let command = section.has("after_task") ? taskSection.markedStrings("exec") : []
        task = command.isEmpty ? nil : command.map(\.text)
        taskTimeout = taskSection.duration("timeout")
        let isTask = task != nil
        captures = section.map("capture").compactMap { RetryCapture($0, ofTask: isTask, into: section.diagnostics) }
        set = section.map("set").map { entry in
            HeaderValue.check(entry.text, at: entry.mark, into: section.diagnostics)
            let name = HeaderName.checked(entry.name, at: entry.nameMark, into: section.diagnostics)
            return (name, Placeholders(entry.text, at: entry.mark, into: section.diagnostics))
        }
        maxAlternates = section.integer(ifGiven: "max_alt") ?? .max
        methods = section.strings("methods")
        allowsAll = section.bool("allow_non_idempotent")
        if let program = command.first, !program.text.hasPrefix("/") {
            let advice = "\"exec\" must start with an absolute path; write for example /usr/bin/relogin"
            section.diagnostics.report(advice, at: program.mark)
        }
        check(section)
    }

    private func check(_ section: Section) {
        RetryDelay.checkStrategy(section)
        if section.has("after"), section.has("after_task") {
            section.reportConflict("after", "after_task")
        }
        if section.has("capture"), !section.has("after"), !section.has("after_task") {
            section.reportUnused("capture", without: "after", "after_task")
        }
        if section.has("max_alt"), !section.has("after") {
            section.reportUnused("max_alt", without: "after")
        }
        let known = captures.map(\.name)
        for (entry, field) in zip(section.map("set"), set) {
            for name in field.value.names where !known.contains(name) {
                section.diagnostics.report("{\(name)} is not captured; add it to \"capture\"", at: entry.mark)
            }
        }
        for method in section.markedStrings("methods") where method.text.split(separator: "/").count != 2 {
            let problem = "\(Diagnostic.quote(method.text)) is not a valid method"
            section.diagnostics.report("\(problem); write for example pkg.Service/Get", at: method.mark)
        }
    }

    /// Whether the request may be retried, given what has become of it.
    ///
    /// A status that says so, and the code `unauthenticated`, are taken for a request that was rejected before anything was
    /// done.
    func mayRepeat(_ call: Call, status: Int, code: RPCCode?) -> Bool {
        if allowsAll || call.upstreamError?.leftUnprocessed == true || call.request.hasIdempotentMethod { return true }
        if call.upstreamError == nil, code == .unauthenticated || [401, 407, 421, 425, 429].contains(status) {
            return true
        }
        guard !methods.isEmpty, call.rpcProcedure != nil, let service = call.service, let method = call.method else {
            return false
        }
        return methods.contains("\(service)/\(method)")
    }
}

/// What all `retry` outcomes of a list share, where they do not say otherwise.
struct SharedRetry {
    private let node: Node?
    private let diagnostics: Diagnostics
    private let context: BuildContext

    /// Takes the options that the list has under `key`.
    init(_ section: Section, _ key: String, _ context: BuildContext) {
        node = section.node(key)
        diagnostics = section.diagnostics
        self.context = context
    }

    /// The plan of an outcome.
    ///
    /// What is wrong with it is reported: only the whole can be, since a rule may set what the list captures.
    func plan(_ section: Section, _ key: String) -> RetryPlan {
        let given = section.node(key)?.entries ?? []
        return RetryPlan(merged(given, at: section.mark(of: key)), context)
    }

    private func merged(_ given: [Node.Entry], at mark: Mark) -> Section {
        let keys = Set(given.map(\.key))
        let alternatives = [RetryDelay.strategies, ["after", "after_task"]]
        let left = keys.union(alternatives.filter { !keys.isDisjoint(with: $0) }.joined())
        let shared = (node?.entries ?? []).filter { !left.contains($0.key) }
        return Section(Node(.mapping(given + shared), at: mark), RetryPlan.options, into: diagnostics)
    }

    /// The plan of a rule that comes with Martlet: nothing else is done first.
    func plan(_ strategy: RetryStrategy) -> RetryPlan {
        var plan = RetryPlan(merged([], at: node?.mark ?? .start), context)
        plan.delay = RetryDelay(strategy, unit: plan.delay.unit, cap: plan.delay.cap, jitter: plan.delay.jitter)
        (plan.alternate, plan.task) = (nil, nil)
        return plan
    }
}
