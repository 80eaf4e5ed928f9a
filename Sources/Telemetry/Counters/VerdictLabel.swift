/// A verdict other than to go on, as the label `verdict` names it.
public enum VerdictLabel: UInt8, CaseIterable, Sendable {
    /// The interceptor rejected the call.
    case reject
    /// The interceptor responded to the call itself.
    case respond
    /// The interceptor has broken the call off.
    case reset
    /// The interceptor has put another outcome in the place of the one that came.
    case replace
    /// The interceptor has let an event wait.
    case suspend
    /// The interceptor has resumed an event that had gone on already, which counts for nothing.
    case late
    /// The interceptor has let the call be retried.
    case retry

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .reject: "reject"
        case .respond: "respond"
        case .reset: "reset"
        case .replace: "replace"
        case .suspend: "suspend"
        case .late: "late"
        case .retry: "retry"
        }
    }
}
