import Configuration
import HTTP
import Protocols
import RPC

@testable import Proxy

/// What the probes of a harness have seen, in order.
final class EventLog: @unchecked Sendable {
    /// What was seen, an event a line.
    var events: [String] = []
    /// How many calls the probes have numbered.
    var calls = 0

    /// The events until now; the event log is empty afterwards.
    func drain() -> [String] {
        defer { events = [] }
        return events
    }
}

/// What the options of a probe say.
struct ProbePlan: InterceptorPlan {
    static func kind(_ eventLog: EventLog) -> InterceptorKind {
        InterceptorKind(
            name: "probe",
            summary: "Keeps an event log.",
            responds: true,
            options: [
                Option(
                    "request",
                    .choice(["next", "reject", "respond"]),
                    default: "next",
                    "The verdict on a request."
                ),
                Option(
                    "response",
                    .choice(["next", "reject", "respond"]),
                    default: "next",
                    "The verdict on a response."
                ),
                Option("type", .string, example: "text/plain", "What the content type of the request becomes."),
                Option("numbers", .bool, default: "false", "Whether the event log has the number of the call."),
            ],
            plan: { section, context in
                ProbePlan(
                    name: context.name,
                    eventLog: eventLog,
                    requestVerdict: section.string("request"),
                    responseVerdict: section.string("response"),
                    requestType: section.string(ifGiven: "type").map { Array($0.utf8) },
                    showsNumber: section.bool("numbers")
                )
            }
        )
    }

    let events: EventSet = [.requestHead, .responseHead, .responseTrailers, .finished]
    let name: String
    let eventLog: EventLog
    let requestVerdict: String
    let responseVerdict: String
    let requestType: [UInt8]?
    let showsNumber: Bool

    func instance(on worker: WorkerServices) -> any Interceptor { Probe(self) }
}

/// An interceptor that keeps an event log and decides what it is told to; it numbers its calls.
final class Probe: Interceptor {
    typealias CallState = Int

    private let plan: ProbePlan

    init(_ plan: ProbePlan) {
        self.plan = plan
    }

    func requestHead(_ call: Call) -> Verdict {
        if call[stateOf: self] == nil {
            plan.eventLog.calls += 1
            call[stateOf: self] = plan.eventLog.calls
        }
        note("request", call)
        call.request.add(FieldName("x-trace"), Array(plan.name.utf8).span)
        if let type = plan.requestType { call.request.set(FieldName("content-type"), type.span) }
        return verdict(plan.requestVerdict)
    }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        note("response", call)
        head.add(FieldName("x-trace"), Array(plan.name.utf8).span)
        return verdict(plan.responseVerdict)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        note("trailers", call)
        return .next
    }

    func finished(_ call: Call) {
        note("finished \(call.record.code.name) by \(call.record.decider)", call)
    }

    private func note(_ event: String, _ call: Call) {
        let number = call[stateOf: self] ?? 0
        plan.eventLog.events.append("\(plan.name)\(plan.showsNumber ? "#\(number)" : "") \(event)")
    }

    private func verdict(_ name: String) -> Verdict {
        switch name {
        case "reject": .reject(RPCError(.permissionDenied, "no"))
        case "respond": .respond(LocalResponse(status: 200, headers: [], body: Array("mine".utf8)))
        default: .next
        }
    }
}
