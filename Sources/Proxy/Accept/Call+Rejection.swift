internal import Bytes
internal import HTTP
internal import RPC
internal import Telemetry

/// A request that is not let in: it meets no route and no interceptor.
extension Call {
    /// The most that the log is told of what a caller has named.
    private static let maxNamed = 256

    /// Ends the call before it has begun, in the caller's protocol.
    func reject(_ reason: RejectionLabel) {
        rejection = reason
        worker.counters.rejected(reason)
        let field = String(decoding: callerLeg.listener.name, as: UTF8.self)
        worker.logLimiter.note(
            "request rejected",
            about: "\(field) \(reason.label)",
            [
                ("reason", reason.label.description),
                ("named", named(reason)),
                ("peer", String(decoding: peer.text, as: UTF8.self)),
                ("listener", field),
            ]
        )
        fail(reason.error, by: .martlet)
    }

    /// What the caller has said that is not let in.
    private func named(_ reason: RejectionLabel) -> String {
        let request = request
        switch reason {
        case .host: return Self.shortened(request.authority)
        case .origin:
            guard let index = request.first(.origin) ?? request.first(.secFetchSite) else { return "" }
            return Self.shortened(request.value(at: index))
        case .loop: return Self.shortened(request.authority)
        }
    }

    private static func shortened(_ text: Span<UInt8>) -> String {
        text.extracting(0..<min(text.count, maxNamed)).string
    }
}

extension RejectionLabel {
    /// What the caller is told; nothing that it has said is in it.
    fileprivate var error: RPCError {
        switch self {
        case .host:
            RPCError(
                .permissionDenied,
                "the listener does not accept the host of the request; add the host to its hosts",
                httpStatus: 421
            )
        case .origin:
            RPCError(
                RPCCode(inferredFromStatus: 403),
                "web pages of this origin are not allowed; add the origin to the origins of the listener",
                httpStatus: 403
            )
        case .loop:
            RPCError(
                .internal,
                "the request loops: an upstream leads back to Martlet; correct the url of the upstream",
                httpStatus: 502
            )
        }
    }
}
