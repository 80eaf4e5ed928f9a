import Configuration
import HTTP
import Protocols
import RPC

@testable import Proxy

/// What the probes of a harness have seen, in order.
final class EventLog: @unchecked Sendable {
    /// What was seen, an event a line.
    var events: [String] = []
    /// How many probes have been made for calls.
    var instances = 0

    /// The events until now; the event log is empty afterwards.
    func drain() -> [String] {
        defer { events = [] }
        return events
    }
}

/// An interceptor that keeps an event log and decides what it is told to; one is made for each call.
final class Probe: Interceptor {
    static func kind(_ eventLog: EventLog) -> InterceptorKind {
        InterceptorKind(
            name: "probe",
            summary: "Keeps an event log.",
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
                Option("numbers", .bool, default: "false", "Whether the event log has the number of the instance."),
            ],
            make: { section, context in
                Probe(
                    context.name,
                    eventLog,
                    section.string("request"),
                    section.string("response"),
                    section.bool("numbers")
                )
            }
        )
    }

    let events: EventSet = [.requestHead, .responseHead, .responseTrailers, .finished]
    private let name: String
    private let eventLog: EventLog
    private let requestVerdict: String
    private let responseVerdict: String
    private let showsNumber: Bool
    private var number = 0

    init(_ name: String, _ eventLog: EventLog, _ requestVerdict: String, _ responseVerdict: String, _ showsNumber: Bool)
    {
        self.name = name
        self.eventLog = eventLog
        self.requestVerdict = requestVerdict
        self.responseVerdict = responseVerdict
        self.showsNumber = showsNumber
    }

    func forCall() -> any Interceptor {
        let new = Probe(name, eventLog, requestVerdict, responseVerdict, showsNumber)
        eventLog.instances += 1
        new.number = eventLog.instances
        return new
    }

    func requestHead(_ call: Call) -> Verdict {
        note("request")
        call.request.add(FieldName("x-trace"), Array(name.utf8).span)
        return verdict(requestVerdict)
    }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        note("response")
        head.add(FieldName("x-trace"), Array(name.utf8).span)
        return verdict(responseVerdict)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        note("trailers")
        return .next
    }

    func finished(_ call: Call) {
        note("finished \(call.record.code.name) by \(call.record.decider)")
    }

    private func note(_ event: String) {
        eventLog.events.append("\(name)\(showsNumber ? "#\(number)" : "") \(event)")
    }

    private func verdict(_ name: String) -> Verdict {
        switch name {
        case "reject": .reject(RPCError(.permissionDenied, "no"))
        case "respond": .respond(LocalResponse(status: 200, headers: [], body: Array("mine".utf8)))
        default: .next
        }
    }
}
