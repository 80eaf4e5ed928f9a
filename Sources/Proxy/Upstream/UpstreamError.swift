public import Bytes
public import Events
private import Glibc
public import HTTP
internal import Protocols
public import RPC
public import Resolver
public import TLS
internal import Telemetry

/// Why an attempt came to nothing.
public enum UpstreamError: Error {
    /// The name leads to no address.
    case unknownHost(ResolverError)
    /// Nobody accepts connections there.
    case connect(SocketAddress, SystemError)
    /// TLS has failed.
    case security(SocketAddress, TLSError)
    /// No connection was made in `timeouts.connect`.
    case connectTimeout
    /// As many calls wait for a connection as may.
    case tooManyWaiting
    /// No connection was free in `timeouts.waiting`.
    case waitTimeout
    /// No response began in `timeouts.first_byte`.
    case firstByteTimeout
    /// The attempt did not end in its time.
    case attemptTimeout
    /// The call did not end in `timeouts.call`.
    case callTimeout
    /// The connection ended before a response began.
    case lost
    /// There is a server, but none that speaks HTTP/2.
    case noHTTP2(SocketAddress)
    /// A connection of HTTP/2 ended without ever having allowed a stream.
    case noRoom(SocketAddress)
    /// Nothing of a response came for too long.
    case stalled
    /// The connection ended when the response had begun.
    case cutOff
    /// The upstream reset the stream.
    case reset(HTTP2Code)
    /// The upstream rejected the call before it began to process it.
    case unprocessed
    /// The upstream did too much of something, and the connection to it was ended.
    case exceeded(HTTP2Limit)
    /// The call is gRPC, and the upstream speaks only HTTP/1.1.
    case needsHTTP2
    /// The head or the trailers of the request are larger than the upstream accepts, whose limit is this many bytes.
    case requestTooLarge(limit: Int)
    /// The response is not valid HTTP.
    case badResponse(HTTPError)
    /// The request cannot be translated into what the upstream speaks.
    case untranslatedRequest(RPCError)
    /// The response cannot be translated into what the caller speaks.
    case untranslatedResponse(RPCError)

    /// Nobody accepts connections, as one who plays an upstream may say.
    public static var noListener: UpstreamError {
        .connect(.ipv4([127, 0, 0, 1], port: 1), SystemError(ECONNREFUSED))
    }

    /// The name leads nowhere, likewise.
    public static var noSuchHost: UpstreamError { .unknownHost(.noSuchHost) }

    /// What the reset of a stream means; `hasHead` says whether the head of a response had come.
    init(_ reason: HTTPReset, on connection: UpstreamConnection?, hasHead: Bool) {
        switch reason {
        case .error(let error): self = .badResponse(error)
        case .code(let code): self = .reset(code)
        case .unprocessed: self = .unprocessed
        case .exceeded(let limit): self = .exceeded(limit)
        case .tooLargeForPeer(let limit): self = .requestTooLarge(limit: limit)
        case .canceled, .connectionLost, .shutdown:
            // Such as an upstream that did not take our certificate.
            if let connection, let error = connection.security?.error {
                self = .security(connection.address, error)
            } else {
                self = hasHead ? .cutOff : .lost
            }
        }
    }

    /// Whether it says something of the address that a call has gone to; a connection that cannot be made is told otherwise.
    var isOfAddress: Bool {
        switch self {
        case .firstByteTimeout, .attemptTimeout, .stalled, .lost, .cutOff, .reset, .exceeded, .security: true
        // A response that is too large is one of its call: other calls of the address may go well.
        case .badResponse(let error): error.limit == nil
        default: false
        }
    }

    /// Whether this machine lacks something, so that it says nothing of the address.
    var isLocal: Bool {
        guard case .connect(_, let error) = self else { return false }
        return error.isLocal
    }

    /// What the caller of `upstream` is told.
    func error(upstream: String, for rpcProtocol: RPCProtocol) -> RPCError {
        switch self {
        case .unknownHost(let error):
            RPCError(.unavailable, "upstream \(upstream): \(error)")
        case .connect(let address, let error):
            RPCError(.unavailable, "upstream \(upstream): cannot connect to \(address): \(error.text)")
        case .security(let address, let error):
            RPCError(.unavailable, "upstream \(upstream): TLS handshake with \(address) failed: \(error)")
        case .connectTimeout:
            RPCError(.unavailable, "upstream \(upstream): no connection within timeouts.connect")
        case .tooManyWaiting:
            RPCError(.resourceExhausted, "upstream \(upstream): limits.waiting is reached", httpStatus: 503)
        case .waitTimeout:
            RPCError(.unavailable, "upstream \(upstream): no connection was free within timeouts.waiting")
        case .firstByteTimeout:
            RPCError(.deadlineExceeded, "upstream \(upstream): no response within timeouts.first_byte")
        case .attemptTimeout:
            RPCError(.deadlineExceeded, "upstream \(upstream): no response within timeouts.attempt")
        case .callTimeout:
            RPCError(.deadlineExceeded, "upstream \(upstream): no complete response within timeouts.call")
        case .stalled:
            RPCError(.deadlineExceeded, "upstream \(upstream): the response stalled")
        case .lost:
            RPCError(
                .unavailable,
                "upstream \(upstream): the connection was closed before the response",
                httpStatus: 502
            )
        case .cutOff:
            RPCError(.unavailable, "upstream \(upstream): the connection was closed in the middle of the response")
        case .noHTTP2(let address):
            RPCError(.unavailable, "upstream \(upstream): \(address) does not speak HTTP/2", httpStatus: 502)
        case .noRoom(let address):
            RPCError(.unavailable, "upstream \(upstream): \(address) closed the connection before it allowed a call")
        case .reset(let code):
            RPCError(
                RPCCode(http2Reset: code.rawValue),
                "upstream \(upstream): the stream was reset: \(code)",
                httpStatus: rpcProtocol == .http ? 502 : nil
            )
        case .exceeded(let limit):
            RPCError(
                .unavailable,
                "upstream \(upstream): it exceeded an HTTP/2 limit: \(limit.text)",
                httpStatus: 502
            )
        case .unprocessed:
            RPCError(.unavailable, "upstream \(upstream): the upstream refused the call before processing it")
        case .needsHTTP2:
            RPCError(.unimplemented, "upstream \(upstream): gRPC needs HTTP/2, but the upstream speaks HTTP/1.1")
        case .requestTooLarge(let limit):
            RPCError(
                .resourceExhausted,
                "upstream \(upstream): the headers or trailers of the request exceed the \(limit) bytes that the upstream "
                    + "accepts (SETTINGS_MAX_HEADER_LIST_SIZE)",
                httpStatus: 431
            )
        case .untranslatedRequest(let error): error
        case .untranslatedResponse(let error): error.named("upstream \(upstream)")
        case .badResponse(let error): Self.error(of: error, upstream)
        }
    }

    private static func error(of error: HTTPError, _ upstream: String) -> RPCError {
        switch error {
        case .headTooLarge:
            RPCError(.resourceExhausted, "upstream \(upstream): a head exceeds limits.head", httpStatus: 502)
        case .tooManyFields:
            RPCError(.resourceExhausted, "upstream \(upstream): a head exceeds limits.fields", httpStatus: 502)
        default:
            RPCError(.unavailable, "upstream \(upstream): malformed response: \(error.text)", httpStatus: 502)
        }
    }

    /// Whether it is that nobody could be connected to, which may pass, and nothing of a call has been sent.
    var isLackOfConnectivity: Bool {
        switch self {
        case .unknownHost, .connect, .connectTimeout, .lost, .noRoom: true
        default: false
        }
    }

    /// The limit that was met, if it was one.
    var limit: LimitLabel? {
        switch self {
        case .tooManyWaiting: .waiting
        case .waitTimeout: .waitingTimeout
        case .requestTooLarge: .head
        case .badResponse(let error): error.limit
        case .untranslatedRequest(let error), .untranslatedResponse(let error):
            error.code == .resourceExhausted ? .heldMessage : nil
        default: nil
        }
    }

    /// How the attempt is counted.
    var result: AttemptResult {
        switch self {
        case .unknownHost, .connect, .tooManyWaiting, .waitTimeout: .connectFailed
        case .security: .tlsFailed
        case .connectTimeout: .connectTimeout
        case .firstByteTimeout, .attemptTimeout, .callTimeout, .stalled: .timeout
        case .lost, .cutOff, .reset, .unprocessed, .exceeded: .reset
        case .needsHTTP2, .noHTTP2, .noRoom: .connectFailed
        case .badResponse, .untranslatedResponse: .badResponse
        case .untranslatedRequest, .requestTooLarge: .canceled
        }
    }
}

extension RPCError {
    /// The same, saying whose it is.
    func named(_ subject: String) -> RPCError {
        var error = self
        error.message = "\(subject): \(message)"
        return error
    }
}
