internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Proxy
internal import RPC
internal import Time

/// Lets calls go wrong, so that it can be tried how applications take it.
struct FaultPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "fault",
        summary: "Injects faults to test an application: delays, errors, resets, cut responses and slow messages.",
        options: Fault.options + [
            Option(
                "from_header",
                .bool,
                default: "false",
                """
                Allows callers to request a fault with a header, `x-martlet-fault: delay=100ms; code=unavailable; \
                percentage=50`. It replaces the configured fault and is not forwarded.
                """
            )
        ],
        plan: { section, _ in FaultPlan(section) }
    )

    let events: EventSet
    /// One message after the other, so that none waits for longer than its own time.
    let isSerial: Bool
    let standing: Fault
    let isFromHeader: Bool

    init(_ section: Section) {
        standing = Fault(section)
        isFromHeader = section.bool("from_header")
        if standing.isEmpty, !isFromHeader {
            let advice = "add \"delay\", \"code\", \"reset\", \"cut_after\", \"throttle\" or \"from_header: true\""
            section.diagnostics.report("the interceptor has no fault; \(advice)", at: section.mark)
        }
        isSerial = isFromHeader || standing.throttle != nil
        var events: EventSet = .requestHead
        if isFromHeader || standing.isOnResponse { events.insert(.responseHead) }
        if isFromHeader || standing.cutsResponses { events.formUnion([.responseMessages, .responseEnd]) }
        if isSerial { events.formUnion([.requestMessages, .responseMessages]) }
        self.events = events
    }

    func instance(on worker: WorkerServices) -> any Interceptor { FaultInterceptor(self, on: worker) }
}

/// Lets one worker's calls go wrong.
final class FaultInterceptor: Interceptor {
    /// What holds for a call.
    struct CallState {
        let fault: Fault
        var requestPace: Pace?
        var responsePace: Pace?
        var messages = 0

        fileprivate init(_ fault: Fault) {
            self.fault = fault
            requestPace = fault.throttle.map(Pace.init)
            responsePace = requestPace
        }
    }

    private static let field = FieldName(Fault.field)

    private let plan: FaultPlan
    private let worker: WorkerServices

    init(_ plan: FaultPlan, on worker: WorkerServices) {
        (self.plan, self.worker) = (plan, worker)
    }

    // MARK: The request

    func requestHead(_ call: Call) -> Verdict {
        let chosen: Fault
        do throws(Fault.Malformed) {
            chosen = try asked(call.request) ?? plan.standing
        } catch {
            return .reject(RPCError(.invalidArgument, "\(Fault.field): \(error.text)"))
        }
        guard worker.randomFraction() * 100 < chosen.percentage else { return .next }
        if plan.events != .requestHead { call[stateOf: self] = CallState(chosen) }
        return chosen.isOnResponse ? .next : head(of: chosen, call)
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        slow(call[stateOf: self]?.requestPace?.wait(for: payload.count, at: call.now), call)
    }

    /// The fault that the caller asks for; the field goes no further.
    private func asked(_ request: HTTPHead) throws(Fault.Malformed) -> Fault? {
        guard plan.isFromHeader, let index = request.first(Self.field) else { return nil }
        guard request.first(Self.field, from: index + 1) == nil else { throw Fault.Malformed(text: "it occurs twice") }
        let text = request.value(at: index).string
        request.remove(Self.field)
        return try Fault.read(text)
    }

    // MARK: The response

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        guard let fault = call[stateOf: self]?.fault, fault.isOnResponse else { return .next }
        return self.head(of: fault, call)
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        guard let state = call[stateOf: self] else { return .next }
        if let ending = state.fault.ending(after: state.messages) { return end(ending, after: .zero, call) }
        call[stateOf: self]?.messages += 1
        return slow(call[stateOf: self]?.responsePace?.wait(for: payload.count, at: call.now), call)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        guard end.error == nil, let state = call[stateOf: self], let ending = state.fault.ending(after: state.messages)
        else { return .next }
        if case .error(let error) = ending {
            end.error = error
            return .next
        }
        return self.end(ending, after: .zero, call)
    }

    // MARK: What goes wrong

    private func head(of fault: Fault, _ call: Call) -> Verdict {
        if let ending = fault.headEnding { return end(ending, after: fault.delay, call) }
        return fault.delay > .zero ? wait(fault.delay, call) { $0.resume() } : .next
    }

    private func end(_ ending: Fault.Ending, after delay: Duration, _ call: Call) -> Verdict {
        switch ending {
        case .error(let error):
            return delay > .zero ? wait(delay, call) { $0.resume(.reject(error)) } : .reject(error)
        case .reset:
            return delay > .zero ? wait(delay, call) { $0.resume(.reset) } : .reset
        }
    }

    private func slow(_ time: Duration?, _ call: Call) -> Verdict {
        guard let time, time > .zero else { return .next }
        return wait(time, call) { $0.resume() }
    }

    /// Does `action` with what waits when the time has passed, unless the call is over before.
    private func wait(_ time: Duration, _ call: Call, _ action: @escaping (Suspension) -> Void) -> Verdict {
        let suspension = Suspension()
        let timer = call.timer(after: time) { action(suspension) }
        suspension.canceled = { timer.cancel() }
        return .suspend(suspension)
    }
}
