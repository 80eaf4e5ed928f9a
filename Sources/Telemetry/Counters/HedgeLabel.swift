/// What became of a further attempt of a hedged call, as the label `result` names it.
public enum HedgeLabel: UInt8, CaseIterable, Sendable {
    /// Its response came first, and went to the caller.
    case won
    /// Another response came first, or the call ended.
    case lost
    /// It had no response, or one that is a failure.
    case failed
    /// It was not sent, since the retry budget is used up.
    case noBudget
    /// It was not sent, since there is no other address.
    case noAddress

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .won: "won"
        case .lost: "lost"
        case .failed: "failed"
        case .noBudget: "no_budget"
        case .noAddress: "no_address"
        }
    }
}
