internal import Proxy

/// Why there was no whole response, in the words that rules have for it.
enum ErrorKind: String, CaseIterable {
    /// The name of the upstream could not be looked up.
    case dns
    /// Nobody could be connected to, or not in time.
    case connect
    /// There was no TLS.
    case tls
    /// The upstream took longer than its `timeouts` allow.
    case timeout
    /// The connection or the stream ended before the response did.
    case reset
    /// What came was no response, or could not be.
    case malformed
    /// Too many calls wait for the upstream, or the call has waited too long.
    case waiting
}

extension UpstreamError {
    /// What rules call it.
    var kind: ErrorKind {
        switch self {
        case .unknownHost: .dns
        case .connect, .connectTimeout, .noRoom: .connect
        case .security: .tls
        case .firstByteTimeout, .attemptTimeout, .callTimeout, .stalled: .timeout
        case .lost, .cutOff, .reset, .unprocessed, .exceeded: .reset
        case .noHTTP2, .needsHTTP2, .badResponse, .untranslatedRequest, .requestTooLarge,
            .untranslatedResponse:
            .malformed
        case .tooManyWaiting, .waitTimeout: .waiting
        }
    }

    /// Whether it is certain that the upstream has not begun to process the request.
    var leftUnprocessed: Bool {
        switch self {
        case .unknownHost, .connect, .connectTimeout, .noRoom, .tooManyWaiting, .waitTimeout, .noHTTP2, .needsHTTP2,
            .unprocessed:
            true
        default: false
        }
    }

    /// Whether the time that the whole call is allowed is over.
    var endsCall: Bool {
        if case .callTimeout = self { true } else { false }
    }
}
