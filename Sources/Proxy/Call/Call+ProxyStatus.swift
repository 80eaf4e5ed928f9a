internal import Bytes
internal import HTTP
internal import RPC

/// The field `proxy-status` (RFC 9209) of an error that was decided here: it tells callers on this machine who did.
extension Call {
    private static let proxyStatus = FieldName("proxy-status")

    /// Says in the head of an answer of our own why it is one, if callers of the listener are told.
    func addProxyStatus(to head: HTTPHead) {
        guard listener.tellsProxyStatus, let ownOutcome, ownOutcome.isError else { return }
        let value = worker.context.queues.take()
        value.append("martlet; error=")
        value.append(errorType(ownOutcome.code))
        value.append("; details=\"")
        switch record.decider {
        case .interceptor(let name):
            let note = trace?.notes.last { $0.place == run.decider && $0.verdict == .reject }
            let event = note.map { " at \($0.event.rawValue)" } ?? ""
            value.append(quoted: Array("rejected by interceptor \(name)\(event)".utf8).span)
        case .martlet, .upstream, .caller: value.append(quoted: ownOutcome.message.span)
        }
        value.append("\"")
        head.set(Self.proxyStatus, value.readable)
        worker.context.queues.give(value)
    }

    private func errorType(_ code: RPCCode) -> StaticString {
        if case .interceptor = record.decider { return "http_request_denied" }
        if let failure { return failure.proxyErrorType }
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

extension UpstreamFailure {
    /// The type of the error, as RFC 9209 §2.3 registers them.
    fileprivate var proxyErrorType: StaticString {
        switch self {
        case .unknownHost: "dns_error"
        case .connect: "connection_refused"
        case .security: "tls_protocol_error"
        case .connectTimeout: "connection_timeout"
        case .tooManyWaiting: "connection_limit_reached"
        case .firstByteTimeout, .callTimeout: "http_response_timeout"
        case .lost, .reset, .unprocessed: "connection_terminated"
        case .cutOff: "http_response_incomplete"
        case .noHTTP2, .needsHTTP2, .exceeded, .badAnswer: "http_protocol_error"
        }
    }
}
