internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import Proxy
internal import Telemetry
internal import Time

/// Records calls, so that a mock can play them back.
struct RecordPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "record",
        summary: """
            Writes each call to a tape when it ends: a document of YAML with all messages and their times. A mock \
            with `tape` plays it back. Nothing of a call is changed. What `redact` masks is masked here, too.
            """,
        options: [
            Option(
                "to",
                .string,
                required: true,
                file: .write,
                example: "/var/lib/martlet/orders.yaml",
                "The file. Only its owner can read it. SIGUSR1 opens the file again."
            ),
            Option(
                "messages",
                .size(in: 0...4 << 20),
                default: "64KiB",
                "The size up to which a message is recorded. A call with a larger one cannot be played back."
            ),
            Option(
                "document",
                .size(in: 4 << 10...8 << 20),
                default: "4MiB",
                "The size up to which a call is recorded. A larger one cannot be played back."
            ),
            Option(
                "limit",
                .size(in: 64 << 10...1 << 40),
                default: "64MiB",
                "The size of the file. Then it becomes `NAME.1`, and a new one begins."
            ),
            Option(
                "scrub",
                .sections(Scrub.options),
                "What to replace in all texts: header values, strings in messages, and error messages."
            ),
        ],
        shorthand: "to",
        plan: { RecordPlan($0, $1) }
    )

    let events: EventSet = [
        .requestHead, .requestMessages, .requestEnd, .interimHeads, .responseHead, .responseMessages, .responseEnd,
        .plainBytes, .finished,
    ]
    let path: String
    let limit: Int
    let form: RecordForm

    init(_ section: Section, _ context: BuildContext) {
        path = section.string("to")
        limit = section.size("limit")
        form = RecordForm(section)
        if !path.hasPrefix("/") {
            let problem = "\(Diagnostic.quote(path)) is not a valid path of a tape"
            section.report("\(problem); write an absolute path such as /var/lib/martlet/orders.yaml", at: "to")
        } else if TapeFile.isLink(path) {
            section.report("\(path) is a symbolic link; write the path of the file itself", at: "to")
        }
        let resources = context.resources
        if resources.tapeLimits[path] == nil, resources.logFiles.contains(where: { $0.text == path }) {
            section.report("\(path) is a log already; write another path", at: "to")
        }
        if let other = resources.tapeLimits[path], other != limit {
            let problem = "another interceptor sets the limit of \(path) to \(ByteCount.text(other))"
            section.report("\(problem); write the same limit", at: "limit")
        }
        resources.tapeLimits[path] = limit
        resources.logFiles.append(MarkedString(path, at: section.mark(of: "to")))
    }

    func instance(on worker: WorkerServices) -> any Interceptor { RecordInterceptor(self, on: worker) }
}

/// Records the calls of one worker.
final class RecordInterceptor: Interceptor {
    typealias CallState = RecordedCall

    private let form: RecordForm
    private let sink: RecordSink
    private let worker: WorkerServices
    private let budget: RecordBudget

    init(_ plan: RecordPlan, on worker: WorkerServices) {
        form = plan.form
        sink = RecordSink(plan, on: worker)
        self.worker = worker
        budget = worker.shared { RecordBudget() }
    }

    func requestHead(_ call: Call) -> Verdict {
        let wall = worker.loop.clock.wall - (call.now - call.startTime)
        call[stateOf: self] = RecordedCall(call, at: wall, form, budget)
        return .next
    }

    func maxJSON(of message: Message, _ call: Call) -> Int {
        form.readsJSON(of: message, call) ? form.maxMessage : 0
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        call[stateOf: self]?.received(payload, message, call)
        return .next
    }

    func requestEnd(_ call: Call) -> Verdict {
        call[stateOf: self]?.requestEnded(call)
        return .next
    }

    func interimHead(_ head: HTTPHead, _ call: Call) { call[stateOf: self]?.responded(interim: head, call) }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        call[stateOf: self]?.responded(head, call)
        return .next
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        call[stateOf: self]?.sent(payload, message, call)
        return .next
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        call[stateOf: self]?.responseEnded(end, call)
        return .next
    }

    func plainBytes(_ bytes: Span<UInt8>, _ direction: Direction, _ call: Call) {
        call[stateOf: self]?.passed(bytes, direction)
    }

    func finished(_ call: Call) {
        guard let recorded = call[stateOf: self] else { return }
        if recorded.isCut { worker.limitHit(.recording) }
        sink.write(recorded.document(call), startedAt: call.startTime)
    }
}
