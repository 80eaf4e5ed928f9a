internal import Configuration
internal import Events
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// What has to be done before a request goes again: another call or a program, then time.
///
/// Belongs to one call; that it ends cancels what is under way.
final class RetryWait {
    /// What is still to be waited for.
    let suspension: Suspension
    /// The end of the response, if that waits behind the event of the suspension.
    private let end: ResponseEnd?
    private unowned let call: Call
    private let worker: WorkerServices
    private let plan: RetryPlan
    private let delay: Duration
    private let captured: ([String: [UInt8]]) -> Void
    private var ticket: SharedFetches.Ticket?
    private var process: Subprocess?
    private var timer: Timer?

    /// Makes one that has not begun.
    ///
    /// - Parameters:
    ///   - call: the call that is to go again.
    ///   - worker: what the call's worker has.
    ///   - plan: what is to be done first.
    ///   - delay: the time, from when the rest is done.
    ///   - suspension: that of the event that waits.
    ///   - end: the end of the response, if that has come.
    ///   - captured: gets the values that were captured, by their names, if something was to be done first.
    init(
        _ call: Call,
        on worker: WorkerServices,
        _ plan: RetryPlan,
        delay: Duration,
        suspension: Suspension,
        end: ResponseEnd?,
        captured: @escaping ([String: [UInt8]]) -> Void
    ) {
        self.call = call
        self.worker = worker
        self.plan = plan
        self.delay = delay
        (self.suspension, self.end) = (suspension, end)
        self.captured = captured
    }

    /// Begins; the suspension is resumed when the request may go again, and maybe before this returns.
    func begin() {
        suspension.canceled = { [weak self] in self?.cancel() }
        suspension.heldBytes = { [weak self] in self?.ticket?.heldBytes ?? 0 }
        if let alternate = plan.alternate { return make(alternate) }
        if let task = plan.task { return run(task) }
        sleep()
    }

    private func cancel() {
        ticket?.cancel()
        process?.cancel()
        timer?.cancel()
        (ticket, process, timer) = (nil, nil, nil)
    }

    private func make(_ alternate: NamedCalls.Entry) {
        let settings = alternate.call.settings
        let request: FetchRequest
        do throws(NamedCallError) {
            request = try alternate.call.render(for: call)
        } catch {
            return fail("call \(settings.name): \(error.text)")
        }
        ticket = worker.fetches.fetch(
            request,
            from: alternate.server,
            limit: settings.limit,
            timeout: settings.timeout
        ) { [weak self] result in
            switch result {
            case .success(let response): self?.receive(response, of: settings.name)
            case .failure(let error):
                self?.note(settings.name, error.text)
                self?.fail("call \(settings.name): \(error.text)")
            }
        }
    }

    private func receive(_ response: FetchedResponse, of name: String) {
        guard 200...299 ~= response.status else {
            note(name, "the response has the status \(response.status)")
            return done { _ in nil }
        }
        done { $0.value(in: response) }
    }

    private func note(_ name: String, _ reason: String) {
        worker.log.note("call before a retry failed", about: name, [("call", name), ("reason", reason)])
    }

    private func run(_ command: [String]) {
        // A rehearsal starts none.
        guard worker.runsPrograms else { return done { _ in nil } }
        let process = Subprocess(on: worker.loop, limit: 64 << 10) { [weak self] outcome in
            guard let self else { return }
            if case .ended(0, let output) = outcome { return done { $0.value(in: output) } }
            let words = Self.words(outcome)
            worker.log.note(
                "program before a retry failed",
                about: command[0],
                [
                    ("task", command[0]),
                    ("reason", words),
                ]
            )
            done { _ in nil }
        }
        self.process = process
        process.start(command, timeout: plan.taskTimeout)
    }

    private static func words(_ outcome: Subprocess.Outcome) -> String {
        switch outcome {
        case .ended(let status, _): "it exited with status \(status)"
        case .notStarted(let error): "it cannot be started: \(error.text)"
        case .tooSlow: "it exceeded its time limit"
        case .tooMuch: "it wrote more than 64 KiB"
        }
    }

    /// What was to be done first is done.
    private func done(_ value: (RetryCapture) -> [UInt8]?) {
        (ticket, process) = (nil, nil)
        var values: [String: [UInt8]] = [:]
        for capture in plan.captures {
            values[capture.name] = value(capture)
            guard values[capture.name] == nil else { continue }
            worker.log.note("value to capture is missing", about: capture.name, [("capture", capture.name)])
        }
        captured(values)
        sleep()
    }

    private func sleep() {
        guard delay > .zero else { return suspension.resume { _ in .retry(.rule) } }
        timer = call.timer(after: delay) { [weak self] in self?.suspension.resume { _ in .retry(.rule) } }
    }

    private func fail(_ text: String) {
        ticket = nil
        let error = RPCError(.unavailable, text)
        suspension.resume { [end] suspended in
            // The head says it all; a message that was held is no part of an error.
            guard suspended.head == nil else { return .reject(error) }
            if end != nil { suspended.message?.drop() }
            return .failing(error, end)
        }
    }
}

extension Verdict {
    /// The response becomes an error, be it its end that tells so.
    static func failing(_ error: RPCError, _ end: ResponseEnd?) -> Verdict {
        guard let end else { return .reject(error) }
        end.error = error
        return .next
    }
}
