/// An event that waits in an interceptor.
///
/// Made by a hook, which answers with it and resumes it later. Belongs to the worker's thread. The engine ends the call
/// with `deadline_exceeded` if that takes longer than the listener's `timeouts.suspension`.
public final class Suspension {
    enum State {
        case waiting
        case resumed(Verdict)
        case over
    }

    /// What is waited for, where that is a task.
    let work: (@Sendable () async -> @Sendable (Suspended) -> Verdict)?
    private(set) var state = State.waiting
    /// Told when the suspension is resumed.
    var resumed: (() -> Void)?
    /// Called once if the call ends before the suspension is resumed: whatever is under way for it is not needed.
    public var canceled: (() -> Void)?

    /// Makes a suspension that `resume` ends.
    public init() {
        work = nil
    }

    /// Makes a suspension that ends when `work` has.
    init(_ work: @escaping @Sendable () async -> @Sendable (Suspended) -> Verdict) {
        self.work = work
    }

    /// Lets the event go on with `verdict`; once is enough, and what comes later counts for nothing.
    ///
    /// `suspend` is no verdict here: it means `next`.
    public func resume(_ verdict: Verdict = .next) {
        guard case .waiting = state else { return }
        canceled = nil
        if case .suspend = verdict { state = .resumed(.next) } else { state = .resumed(verdict) }
        resumed?()
    }

    /// Nobody waits any more.
    func cancel() {
        guard case .waiting = state else { return }
        state = .over
        resumed = nil
        let canceled = canceled
        self.canceled = nil
        canceled?()
    }
}
