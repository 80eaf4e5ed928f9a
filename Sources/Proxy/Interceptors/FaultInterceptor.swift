internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import RPC
internal import Time

/// Lets calls go wrong, so that it can be tried how applications take it.
final class FaultInterceptor: Interceptor {
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
        make: { FaultInterceptor($0, $1) }
    )

    private static let field = FieldName(Fault.field)

    let events: EventSet
    /// One message after the other, so that none waits for longer than its own time.
    let isSerial: Bool
    private let name: String
    private let standing: Fault
    private let isFromHeader: Bool
    /// What holds for the call.
    private var fault: Fault?
    private var requestPace: Pace?
    private var responsePace: Pace?
    private var messages = 0

    init(_ section: Section, _ context: CompileContext) {
        name = context.name
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

    private init(forCallOf shared: FaultInterceptor) {
        events = shared.events
        isSerial = shared.isSerial
        name = shared.name
        standing = shared.standing
        isFromHeader = shared.isFromHeader
    }

    func forCall() -> any Interceptor {
        events == .requestHead ? self : FaultInterceptor(forCallOf: self)
    }

    // MARK: The request

    func requestHead(_ call: Call) -> Verdict {
        let chosen: Fault
        do throws(Fault.Malformed) {
            chosen = try asked(call.request) ?? standing
        } catch {
            return .reject(RPCError(.invalidArgument, "\(Fault.field): \(error.text)"))
        }
        guard Double.random(in: 0..<100, using: &call.worker.random) < chosen.percentage else { return .next }
        if events != .requestHead {
            fault = chosen
            requestPace = chosen.throttle.map(Pace.init)
            responsePace = requestPace
        }
        return chosen.isOnResponse ? .next : head(of: chosen, call)
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        slow(payload.count, \.requestPace, call)
    }

    /// The fault that the caller asks for; the field goes no further.
    private func asked(_ request: HTTPHead) throws(Fault.Malformed) -> Fault? {
        guard isFromHeader, let index = request.first(Self.field) else { return nil }
        guard request.first(Self.field, from: index + 1) == nil else { throw Fault.Malformed(text: "it occurs twice") }
        let text = request.value(at: index).string
        request.remove(Self.field)
        return try Fault.read(text)
    }

    // MARK: The response

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        guard let fault, fault.isOnResponse else { return .next }
        return self.head(of: fault, call)
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        if let ending = fault?.ending(after: messages) { return end(ending, after: .zero, call) }
        messages += 1
        return slow(payload.count, \.responsePace, call)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        guard end.error == nil, let ending = fault?.ending(after: messages) else { return .next }
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
            // A reset takes back what has not left yet, and the messages before it are to arrive.
            let delay = messages > 0 ? max(delay, .millisecond) : delay
            return delay > .zero ? wait(delay, call) { $0.resume(.reset) } : .reset
        }
    }

    private func slow(_ bytes: Int, _ pace: ReferenceWritableKeyPath<FaultInterceptor, Pace?>, _ call: Call) -> Verdict
    {
        let time = self[keyPath: pace]?.wait(for: bytes, at: call.now) ?? .zero
        return time > .zero ? wait(time, call) { $0.resume() } : .next
    }

    /// Does `action` with what waits when the time has passed, unless the call is over before.
    private func wait(_ time: Duration, _ call: Call, _ action: @escaping (Suspension) -> Void) -> Verdict {
        let suspension = Suspension()
        let timer = call.timer(after: time) { action(suspension) }
        suspension.canceled = { timer.cancel() }
        return .suspend(suspension)
    }
}
