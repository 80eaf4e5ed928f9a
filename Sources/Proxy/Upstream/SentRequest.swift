internal import HTTP

/// How far a request came on a connection that came to nothing, and whether it may be retried (RFC 9110 §9.2.2).
///
/// Pure: the same rule for calls and for requests of our own.
struct SentRequest {
    /// How often a request is sent at most, where this rule lets it be retried.
    ///
    /// Servers that calls are spread over evenly may all close connections at the same time, by the same count.
    static func maxAttempts(isBalanced: Bool) -> Int { isBalanced ? 6 : 3 }

    /// Something of a response has come, be it an interim one.
    let hasResponse: Bool
    /// The connection had been idle, so that its server may have closed it before the request.
    let wasIdle: Bool
    /// The connection was reset, its server may never have accepted it, and there are other servers.
    let wasUnaccepted: Bool
    /// The connection has sent something since it got the request.
    let hasLeft: Bool
    /// Doing it twice comes to the same as doing it once.
    let isIdempotent: Bool

    /// Whether sending it once more cannot do twice what was to be done once.
    func canRetry(after error: UpstreamError) -> Bool {
        switch error {
        case _ where hasResponse: false
        case .unprocessed: true
        case .lost: wasIdle && !hasLeft || isIdempotent && (wasIdle || wasUnaccepted)
        default: false
        }
    }
}
