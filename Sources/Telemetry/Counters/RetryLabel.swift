/// Why a retry was due, as the label `reason` names it.
public enum RetryReason: UInt8, CaseIterable, Sendable {
    /// The connection was lost before the upstream can have processed the call, or the call may be repeated.
    case connection
    /// The upstream did not take the credential.
    case unauthenticated
    /// A rule of the configuration says so.
    case rule

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .connection: "connection"
        case .unauthenticated: "unauthenticated"
        case .rule: "rule"
        }
    }
}

/// Why a call was not retried although an interceptor asked for it, as the label `result` names it.
public enum RetrySkipReason: UInt8, CaseIterable, Sendable {
    /// Something of the response has gone out to the caller.
    case delivered
    /// More of the request has gone out than is kept.
    case buffer
    /// The rest of the request was not kept, since there was a response already.
    case incomplete
    /// The response did not come from an upstream.
    case unsent
    /// It has been tried as often as is allowed.
    case attempts
    /// There is no time left.
    case deadline
    /// The upstream's budget for retries is used up.
    case budget
    /// The request may do twice what was to be done once.
    case notIdempotent
    /// The upstream asks for no retry.
    case pushback
    /// There is no other credential than the one that was rejected.
    case credential
    /// Hedging has sent the call to several addresses.
    case hedged
    /// More of the request has gone out than its file may keep.
    case spool
    /// More of requests has gone out than the files of the upstream may keep.
    case spoolTotal
    /// The file of the request could not be written.
    case disk

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .delivered: "delivered"
        case .buffer: "buffer"
        case .incomplete: "incomplete"
        case .unsent: "unsent"
        case .attempts: "attempts"
        case .deadline: "deadline"
        case .budget: "budget"
        case .notIdempotent: "not_idempotent"
        case .pushback: "pushback"
        case .credential: "credential"
        case .hedged: "hedged"
        case .spool: "spool"
        case .spoolTotal: "spool_total"
        case .disk: "disk"
        }
    }

    /// What the trace of a call says.
    public var text: StaticString {
        switch self {
        case .delivered: "part of the response has already been sent"
        case .buffer: "the request is larger than limits.retry_buffer"
        case .incomplete: "the rest of the request was not kept, because a response had begun"
        case .unsent: "the call was not sent to an upstream"
        case .attempts: "the limit of attempts is reached"
        case .deadline: "there is no time left"
        case .budget: "the retry budget of the upstream is exhausted"
        case .notIdempotent: "the request is not idempotent"
        case .pushback: "the upstream asked for no retry"
        case .credential: "there is no newer credential"
        case .hedged: "the call was hedged"
        case .spool: "the request is larger than limits.spool.max"
        case .spoolTotal: "the files of the upstream have reached limits.spool.total"
        case .disk: "the file that keeps the request could not be written"
        }
    }
}
