internal import Bytes
internal import HTTP
internal import RPC
internal import Telemetry

/// The field `proxy-status` (RFC 9209) of an error that was decided here: it tells callers on this machine who did.
extension Call {
    private static let proxyStatus = FieldName("proxy-status")

    /// Says in the head of a response, or in its trailers, why it is an error, if that was decided here and callers of the
    /// listener are told.
    func addProxyStatus(to head: HTTPHead, _ outcome: Outcome) {
        guard callerLeg.listener.sendsProxyStatus, outcome.isError else { return }
        let value = worker.acquireQueue()
        value.append("martlet; error=")
        value.append(errorType(outcome.code))
        value.append("; details=\"")
        switch record.decider {
        case .interceptor(let name): value.append(quoted: Array("\(deed) by interceptor \(name)".utf8).span)
        case .martlet, .upstream, .caller: value.append(quoted: outcome.message.span)
        }
        value.append("\"")
        head.set(Self.proxyStatus, value.readable)
        worker.release(value)
    }

    /// What the interceptor that decided has done, and at which event.
    private var deed: String {
        guard let note = trace?.notes.last(where: { $0.index == run.decider && $0.verdict != .next }) else {
            return "decided"
        }
        let verb = note.verdict == .replace ? "replaced" : "rejected"
        return "\(verb) at \(note.event.rawValue)"
    }

    private func errorType(_ code: RPCCode) -> StaticString {
        if case .interceptor = record.decider {
            return response.hasBegun ? "proxy_internal_response" : "http_request_denied"
        }
        if let rejection { return rejection == .loop ? "proxy_loop_detected" : "http_request_denied" }
        if let error = upstreamError { return error.proxyErrorType }
        return switch code {
        case .deadlineExceeded: "http_response_timeout"
        case .unimplemented: "destination_not_found"
        case .invalidArgument, .resourceExhausted: "http_request_error"
        default: "proxy_internal_error"
        }
    }
}

extension ByteQueue {
    /// Appends what stands between the quotes of a structured field's string (RFC 9651 §3.3.3); what cannot stand there
    /// becomes a question mark.
    fileprivate func append(quoted text: Span<UInt8>) {
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { append(byte: UInt8(ascii: "\\")) }
            append(byte: (0x20...0x7e).contains(byte) ? byte : UInt8(ascii: "?"))
        }
    }
}

extension UpstreamError {
    /// The type of the error, as RFC 9209 §2.3 registers them.
    fileprivate var proxyErrorType: StaticString {
        switch self {
        case .unknownHost: "dns_error"
        case .connect: "connection_refused"
        case .security: "tls_protocol_error"
        case .connectTimeout: "connection_timeout"
        case .tooManyWaiting, .waitTimeout: "connection_limit_reached"
        case .firstByteTimeout, .attemptTimeout, .callTimeout, .stalled: "http_response_timeout"
        case .lost, .noRoom, .reset, .unprocessed: "connection_terminated"
        case .cutOff: "http_response_incomplete"
        case .untranslatedRequest, .requestTooLarge: "http_request_error"
        case .noHTTP2, .needsHTTP2, .exceeded, .badResponse, .untranslatedResponse: "http_protocol_error"
        }
    }
}
