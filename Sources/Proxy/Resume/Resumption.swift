internal import Events
internal import HTTP
internal import Time

/// What a call keeps so that its response can be resumed.
final class Resumption {
    private enum State {
        /// No response has come that could be resumed.
        case none
        /// A response comes.
        case open
        /// It has broken off; a further attempt is to continue it.
        case broken(UpstreamError)
    }

    let policy: ResumePolicy
    /// The link of the chain that has asked for it.
    let index: Int
    private var state = State.none
    private var point: ResumePoint?
    /// How many bytes that come are there already.
    private var skip = 0
    /// How often the response was resumed, or was to be.
    private(set) var count = 0
    /// How often an attempt was repeated since its connection was of no use.
    private(set) var repeats = 0
    /// Since when the upstream is waited for: something of the response came, or the caller began to take more of it.
    var waitsSince = Instant.start
    var timer: Timer?

    init(_ policy: ResumePolicy, at index: Int) { (self.policy, self.index) = (policy, index) }

    /// A response begins, in the place of any before it; `point` is nil if it cannot be resumed.
    func begin(_ point: ResumePoint?, at now: Instant) {
        self.point = point
        state = point == nil ? .none : .open
        waitsSince = now
    }

    /// Whether a response has begun that can be resumed, or is about to be.
    var isPossible: Bool { if case .none = state { false } else { true } }

    /// Whether the response has broken off, and a further attempt is to continue it.
    var isUnderWay: Bool { cause != nil }

    /// Why the response has broken off, until it is continued.
    var cause: UpstreamError? { if case .broken(let error) = state { error } else { nil } }

    /// The response has broken off.
    func breakOff(_ error: UpstreamError) {
        if cause == nil { state = .broken(error) }
        (count, repeats) = (count + 1, 0)
    }

    /// An attempt is repeated.
    func repeatAttempt() { repeats += 1 }

    /// Makes the head of the request ask for the rest of the response, if that has broken off.
    func ask(_ request: HTTPHead) {
        if isUnderWay { point?.ask(request) }
    }

    /// What the head of a response does for the one that has broken off.
    func continuation(_ head: HTTPHead) -> ResumePoint.Continuation { point?.continuation(head) ?? .rejected }

    /// The response is continued, behind bytes that are there already.
    func resume(skipping count: Int, at now: Instant) {
        (state, skip, waitsSince) = (.open, count, now)
    }

    /// The next byte, counted from the first one of the representation.
    var offset: Int { point?.offset ?? 0 }

    /// Whether the whole body has come, as far as that is known.
    var isComplete: Bool { point.map { $0.left == 0 } ?? true }

    /// Bytes have come.
    ///
    /// - Returns: how many of the first are there already; nil if there are more bytes than there can be.
    func receive(_ count: Int, at now: Instant) -> Int? {
        waitsSince = now
        let skipped = min(skip, count)
        skip -= skipped
        guard point?.receive(count - skipped) ?? true else { return nil }
        return skipped
    }
}
