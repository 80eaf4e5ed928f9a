/// What became of a response that broke off and could be resumed, as the label `result` names it.
public enum ResumeResult: UInt8, CaseIterable, Sendable {
    /// The next attempt continued it.
    case resumed
    /// The upstream has another version of it by now.
    case changed
    /// The upstream responded with something that does not continue it.
    case rejected
    /// The next attempt had no response, or that of a server that is not available.
    case failed
    /// It has been resumed as often as is allowed.
    case exhausted
    /// There is no time left.
    case deadline
    /// The upstream's budget for retries is used up.
    case budget

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .resumed: "resumed"
        case .changed: "changed"
        case .rejected: "rejected"
        case .failed: "failed"
        case .exhausted: "exhausted"
        case .deadline: "deadline"
        case .budget: "budget"
        }
    }

    /// What the trace of a call says.
    public var text: StaticString {
        switch self {
        case .resumed: "resumed"
        case .changed: "the upstream has another version of the response"
        case .rejected: "the upstream does not continue the response"
        case .failed: "the attempt had no response"
        case .exhausted: "the limit of resumes is reached"
        case .deadline: "there is no time left"
        case .budget: "the retry budget of the upstream is exhausted"
        }
    }
}
