extension RPCCode {
    /// The HTTP status of a unary Connect response with this code (Connect protocol, "Error codes").
    public var httpStatus: Int {
        switch self {
        case .ok: 200
        case .canceled: 499
        case .unknown, .internal, .dataLoss: 500
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .deadlineExceeded: 504
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .permissionDenied: 403
        case .resourceExhausted: 429
        case .unimplemented: 501
        case .unavailable: 503
        case .unauthenticated: 401
        }
    }

    /// What a caller concludes from the HTTP status of a response that names no code itself.
    ///
    /// Not the inverse of `httpStatus`: whoever sent the response need not speak RPC at all.
    public init(inferredFromStatus status: Int) {
        self =
            switch status {
            case 400: .internal
            case 401: .unauthenticated
            case 403: .permissionDenied
            case 404: .unimplemented
            case 429, 502, 503, 504: .unavailable
            default: .unknown
            }
    }

    /// What a caller concludes from the error code of an HTTP/2 stream reset (RFC 9113 §7).
    public init(http2Reset errorCode: UInt32) {
        self =
            switch errorCode {
            case 0x7: .unavailable  // REFUSED_STREAM: nothing was processed
            case 0x8: .canceled  // CANCEL
            case 0xb: .resourceExhausted  // ENHANCE_YOUR_CALM
            case 0xc: .permissionDenied  // INADEQUATE_SECURITY
            default: .internal
            }
    }
}
