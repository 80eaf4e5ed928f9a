import Bytes
import Configuration
import HTTP
import RPC
import Telemetry

@testable import Proxy

/// What the options of a gate say.
///
/// Events are named like `request head`, `response message 2`, `response end`; a name without a number is every one.
struct GatePlan: InterceptorPlan, @unchecked Sendable {
    static func kind(_ eventLog: EventLog, _ gates: SuspensionGates) -> InterceptorKind {
        InterceptorKind(
            name: "gate",
            summary: "Keeps an event log, and holds, changes or rejects events.",
            options: [
                Option("sees", .strings, "The events that it asks for; all if absent."),
                Option("hold", .strings, "The events that wait for the test."),
                Option("random", .bool, default: "false", "Whether half of all events wait."),
                Option("numbers", .bool, default: "false", "Whether the event log has the number of the call."),
                Option("work", .strings, "The events that wait for a task."),
                Option("open", .strings, "The events whose hook releases what waits."),
                Option("verdict", .string, "The code with which that rejects the first."),
                Option("serial", .bool, default: "false", "Whether it wants one event after the other."),
                Option(
                    "reads",
                    .bool,
                    default: "false",
                    "Whether it reads messages as JSON, and logs `read` of those."
                ),
                Option("upper", .bool, default: "false", "Whether messages become capitals."),
                Option("drop", .strings, "The messages that go no further."),
                Option("add", .map, "What comes behind a message."),
                Option("reject", .map, "The codes with which events are rejected."),
                Option("retry", .map, "The events at which the call is retried, and how often at most."),
                Option("end", .string, "The code that the response ends with instead."),
                Option("trailer", .string, "The value of a trailer to add."),
            ],
            plan: { GatePlan($1.name, $0, eventLog, gates[$1.name]) }
        )
    }

    let events: EventSet
    let isSerial: Bool
    let name: String
    let eventLog: EventLog
    let gate: SuspensionGate
    let options: Section

    init(_ name: String, _ options: Section, _ eventLog: EventLog, _ gate: SuspensionGate) {
        (self.name, self.options, self.eventLog, self.gate) = (name, options, eventLog, gate)
        isSerial = options.bool("serial")
        let all: KeyValuePairs<String, EventSet> = [
            "request head": .requestHead, "request message": .requestMessages, "request end": .requestEnd,
            "response head": .responseHead, "response message": .responseMessages, "response end": .responseEnd,
        ]
        let sees = options.strings("sees")
        let first: EventSet = options.has("retry") ? [.finished, .retries] : .finished
        events = all.filter { sees.isEmpty || sees.contains($0.key) }.reduce(first) { $0.union($1.value) }
    }

    func instance(on worker: WorkerServices) -> any Interceptor { GateInterceptor(self) }
}

/// An interceptor that keeps an event log of every event, and holds, changes or rejects those that it is told to.
final class GateInterceptor: Interceptor {
    typealias CallState = Int

    /// What rejections say, beside their code.
    static let detail = ErrorDetail(type: "google.rpc.RetryInfo", value: [0x0a, 0x02, 0x08, 0x3c])

    private let plan: GatePlan
    private var options: Section { plan.options }
    private var gate: SuspensionGate { plan.gate }

    init(_ plan: GatePlan) {
        self.plan = plan
    }

    /// The name in the log: with the number of the call, where that is asked for.
    private func name(_ call: Call) -> String {
        if call[stateOf: self] == nil {
            gate.calls += 1
            call[stateOf: self] = gate.calls
        }
        return options.bool("numbers") ? "\(plan.name)#\(call[stateOf: self] ?? 0)" : plan.name
    }

    // MARK: Hooks

    func requestHead(_ call: Call) -> Verdict { verdict("request head", nil, call) }

    func maxJSON(of message: Message, _ call: Call) -> Int { options.bool("reads") ? .max : 0 }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        change(payload, message, "request message", call)
    }

    func requestEnd(_ call: Call) -> Verdict { verdict("request end", nil, call) }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict { verdict("response head", nil, call) }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        change(payload, message, "response message", call)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        let said = "\(end.code.name)"
        if let value = options.string(ifGiven: "trailer") {
            end.trailers.add(FieldName("x-cost"), Array(value.utf8).span)
        }
        if let code = options.string(ifGiven: "end") {
            end.error = RPCCode(name: code).map { RPCError($0, "changed", details: [Self.detail]) }
        }
        return verdict("response end", said, call)
    }

    func finished(_ call: Call) {
        plan.eventLog.events.append("\(name(call)) finished \(call.record.code.name) by \(call.record.decider)")
    }

    // MARK: Doing what the options say

    private func change(_ payload: Span<UInt8>, _ message: Message, _ kind: String, _ call: Call) -> Verdict {
        let event = "\(kind) \(message.number)"
        let text = message.isRead ? "read" : payload.string
        if options.bool("upper") { message.replace(with: Array(text.uppercased().utf8).span) }
        if applies("drop", event) { message.drop() }
        for entry in options.map("add") where entry.name == event { message.add(Array(entry.text.utf8).span) }
        return verdict(event, text, call)
    }

    private func verdict(_ event: String, _ said: String?, _ call: Call) -> Verdict {
        plan.eventLog.events.append("\(name(call)) \(event)\(said.map { " " + $0 } ?? "")")
        if applies("open", event) { open() }
        for entry in options.map("reject") where entry.name == event {
            return .reject(RPCError(RPCCode(name: entry.text)!, "no", details: [Self.detail]))
        }
        for entry in options.map("retry") where entry.name == event && call.retries < Int(entry.text)! {
            return .retry(.rule)
        }
        if options.bool("random"), Bool.random(using: &gate.random) { return .suspend(gate.hold(event)) }
        if applies("hold", event) { return .suspend(gate.hold(event)) }
        return applies("work", event) ? work(event) : .next
    }

    private func open() {
        if let code = options.string(ifGiven: "verdict") {
            gate.release(nil, .reject(RPCError(RPCCode(name: code)!, "opened")))
        }
        gate.releaseAll()
    }

    private func work(_ event: String) -> Verdict {
        let signal = gate.signal
        return .suspend {
            signal.noteThread()
            await signal.wait()
            return { waited in
                signal.noteThread()
                waited.message?.withPayload { waited.message?.replace(with: Array("<\($0.string)>".utf8).span) }
                return .next
            }
        }
    }

    /// Whether an option names the event, or all of its kind.
    private func applies(_ option: String, _ event: String) -> Bool {
        options.strings(option).contains { event == $0 || event.hasPrefix($0 + " ") && $0.last?.isNumber == false }
    }
}
