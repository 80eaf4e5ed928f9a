/// What became of one attempt on an upstream, as the label `result` names it.
public enum AttemptResult: UInt8, CaseIterable, Sendable {
    /// The upstream gave a whole response, whatever its code.
    case ok
    /// No connection could be made.
    case connectFailed
    /// The connection could not be secured.
    case tlsFailed
    /// No connection was made in time.
    case connectTimeout
    /// The upstream broke the connection or the stream off.
    case reset
    /// The upstream sent what is not HTTP.
    case badResponse
    /// The upstream did not respond in time.
    case timeout
    /// The caller went away first.
    case canceled

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .ok: "ok"
        case .connectFailed: "connect_failed"
        case .tlsFailed: "tls_failed"
        case .connectTimeout: "connect_timeout"
        case .reset: "reset"
        case .badResponse: "bad_response"
        case .timeout: "timeout"
        case .canceled: "canceled"
        }
    }
}
