internal import Dialects
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// The time that the caller allows for a call, counted from the arrival of its head.
extension Call {
    /// Reads the time-out that the caller has brought and sets the alarm.
    ///
    /// - Returns: what is wrong with it; a time-out of nothing is over already.
    func takeDeadline() -> RPCError? {
        let request = request
        guard let field = classification.dialect.timeoutField, let index = request.first(field.known) else {
            return nil
        }
        guard let timeout = field.read(request.value(at: index)) else {
            return field.malformedError
        }
        guard timeout != .longest else { return nil }
        let (time, isBeyond) = record.stages.arrived.addingReportingOverflow(timeout.nanoseconds)
        guard !isBeyond else { return nil }
        guard timeout.nanoseconds > 0 else { return Self.overDeadline }
        deadline = time
        let timer = Timer(on: worker.context.loop.timers) { [unowned self] in
            attempt?.count(.timeout)
            fail(Self.overDeadline, by: .martlet)
        }
        deadlineTimer = timer
        timer.arm(after: time - worker.context.loop.now)
        return nil
    }

    /// Says in the request how much of the time is left for the upstream.
    func passDeadlineOn() {
        let now = worker.context.loop.now
        // What has passed is less than the field can say.
        guard let deadline, now - record.stages.arrived >= .millisecond else { return }
        guard let field = classification.dialect.timeoutField, let index = request.first(field.known) else { return }
        let text = field.text(of: Timeout(nanoseconds: deadline - now))
        request.setValue(at: index, text.bytes)
    }

    private static let overDeadline = RPCError(.deadlineExceeded, "request exceeded allowed timeout")
}

extension TimeoutField {
    fileprivate var known: KnownField {
        switch self {
        case .grpc: .grpcTimeout
        case .connect: .connectTimeout
        }
    }
}
