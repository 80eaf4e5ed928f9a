internal import Bytes
internal import Events
internal import Protocols
internal import Proxy
internal import RPC

/// A mock as one worker serves it.
final class MockServer {
    let mock: Mock
    let memory: MockMemory
    let worker: WorkerServices
    /// The signals that scripts wait for and raise.
    let signals: MockSignals
    private let unmatched: Mock.Unmatched
    private let upstream: LocalUpstream
    private let rawUpstream: LocalUpstream?
    /// Wakes the calls that a signal was raised for, on this worker's thread.
    let alarms: MockAlarms?

    init(_ mock: Mock, _ unmatched: Mock.Unmatched, on worker: WorkerServices) {
        (self.mock, self.unmatched, self.worker) = (mock, unmatched, worker)
        memory = worker.shared.object(mock.name, fits: { $0.isMemory(of: mock) }, make: { MockMemory(of: mock) })
        signals = MockSignals.shared(in: worker.shared)
        upstream = worker.localUpstream(named: mock.name)
        rawUpstream = mock.hasRawRules ? worker.localUpstream(named: mock.name, translates: false) : nil
        alarms = mock.signals.isEmpty ? nil : worker.shared { MockAlarms(on: worker.loop) }
    }

    /// Serves a call by a rule, or by one that its first message decides on.
    func serve(_ rule: MockRule?) -> Verdict {
        var chosen = rule
        let upstream = rule?.script.isRaw == true ? rawUpstream ?? self.upstream : self.upstream
        // A further attempt is another call of the mock.
        return .serve(upstream) { [self] exchange in MockCall(exchange, self, chosen.take()) }
    }

    /// A call that no rule is for goes on: writes down what is known of it.
    ///
    /// - Returns: what is told of its end; none if there is no journal.
    func pass(_ miss: MockMiss, _ context: MockContext) -> MockRecorder? {
        memory.noteUnmatched()
        let journal = MockRecorder(context, memory, limit: mock.journalLimit)
        if context.number > 0 { journal?.received(context) }
        journal?.goesOn(miss.text)
        return journal
    }

    /// What becomes of a call whose first message is not of its type.
    func invalid(_ problem: MessageFlaw, _ context: MockContext) -> Verdict {
        let (journal, error) = (MockRecorder(context, memory, limit: mock.journalLimit), context.error(problem))
        journal?.received(context)
        journal?.ended(.status(error.code, error.message), at: context.call.now)
        return .reject(error)
    }

    /// What becomes of a call that no rule is for, and that does not go on.
    func unmatched(_ miss: MockMiss, _ context: MockContext) -> Verdict {
        if steps(ofUnmatched: context.call) != nil { return serve(nil) }
        memory.noteUnmatched()
        let journal = MockRecorder(context, memory, limit: mock.journalLimit)
        if context.number > 0 { journal?.received(context) }
        journal?.unmatched(miss.text)
        let error = error(miss, for: context.call)
        journal?.ended(.status(error.code, error.message), at: context.call.now)
        return .reject(error)
    }

    /// What is done in a call that no rule is for; none if it ends with an error.
    func steps(ofUnmatched call: Call) -> [MockScript.Step]? {
        guard call.rpcProtocol != .http else { return nil }
        return switch unmatched {
        case .empty: MockScript.empty
        case .fake: MockScript.fake
        case .unimplemented, .next: nil
        }
    }

    /// Returns the error of a call without a rule.
    ///
    /// Callers on other machines learn nothing about the rules. Instead, the operational log has the details, at most one line
    /// in ten seconds for each nearest rule.
    func error(_ miss: MockMiss, for call: Call) -> RPCError {
        if let error = call.errorByType { return error }
        guard !call.peer.isOnThisMachine else { return RPCError(.unimplemented, "mock \(mock.name): \(miss.text)") }
        worker.log.note(
            "no rule of a mock applies to a call",
            about: "\(mock.name) \(miss.position ?? "")",
            [
                ("mock", mock.name),
                ("call", call.shownName),
                ("reason", miss.text),
            ]
        )
        let text = "no rule applies to the call; the log of Martlet has the details"
        return RPCError(.unimplemented, "mock \(mock.name): \(text)")
    }
}
