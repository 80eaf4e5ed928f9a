internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
public import Time

/// The time that the caller or the configuration allows for a call, counted from the arrival of its head.
extension Call {
    /// Reads the time-out that the caller has brought, and sets the alarm or says what is wrong with it.
    func setDeadline() {
        let received = received
        guard let field = callerLeg.side.timeoutField, let index = received.first(field.known) else { return }
        // Of several, servers take the first or the last.
        guard received.first(field.known, from: index + 1) == nil,
            let timeout = field.read(received.value(at: index))
        else {
            deadline.error = field.malformedError
            return
        }
        let time = record.stages.arrived.adding(saturating: timeout)
        guard time < .max else { return }
        // A time-out of nothing is over already.
        guard timeout > .zero else {
            deadline.error = Self.overDeadline
            return
        }
        setDeadline(time)
    }

    /// Whether the time of the call is over, or nearly so.
    var isDeadlineOver: Bool {
        deadline.time.map { $0 - worker.context.loop.now < Self.deadlineTolerance } ?? false
    }

    /// Allows the call so much time from its arrival, unless it has less anyway, or ends.
    public func limitTime(to limit: Duration) {
        let time = record.stages.arrived.adding(saturating: limit)
        guard !isClosing, time < deadline.time ?? .max else { return }
        deadline.isOurs = true
        setDeadline(time)
    }

    private func setDeadline(_ time: Instant) {
        deadline.time = time
        let timer =
            deadline.timer
            ?? Timer(on: worker.context.loop.timers) { [unowned self] in
                timePassed()
                forEachAttempt { $0.count(.timeout) }
                fail(sayingWhere(Self.overDeadline), by: .martlet)
            }
        deadline.timer = timer
        timer.arm(after: max(.zero, time - worker.context.loop.now))
    }

    /// An error about time that is over, with where that has gone.
    func sayingWhere(_ error: RPCError) -> RPCError {
        let text = spentText
        var error = error
        if !text.isEmpty { error.message += ": \(text)" }
        return error
    }

    /// Says in the request how much of the time is left for the upstream.
    func passDeadlineOn() {
        let now = worker.context.loop.now
        // Of the caller's own, what has passed may be less than the field can say.
        let isUnchanged = !deadline.isOurs && !isTranslated && now - record.stages.arrived < .millisecond
        guard let time = deadline.time, !isUnchanged, let field = upstreamLeg.side.timeoutField else { return }
        let text = field.text(of: time - now)
        if let index = request.first(field.known) {
            request.setValue(at: index, text.bytes)
        } else {
            request.add(field.fieldName, text.bytes)
        }
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

    fileprivate var fieldName: FieldName {
        switch self {
        case .grpc: Self.grpcName
        case .connect: Self.connectName
        }
    }

    private static let grpcName = FieldName("\(TimeoutField.grpc.name)")
    private static let connectName = FieldName("\(TimeoutField.connect.name)")
}
