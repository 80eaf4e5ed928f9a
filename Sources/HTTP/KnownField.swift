private import Bytes

/// The header fields that Martlet itself looks at; each head notes at once which of them it has.
public enum KnownField: UInt8, BitwiseCopyable, Sendable {
    /// Any field that is not one of these.
    case other
    case host, connection, keepAlive, proxyConnection, proxyAuthenticate, proxyAuthorization
    case transferEncoding, contentLength, te, trailer, upgrade, expect
    case contentType, contentEncoding, connectProtocolVersion, grpcStatus, grpcMessage
    case grpcTimeout, connectTimeout, grpcEncoding, connectContentEncoding, cookie
    case authorization, setCookie, http2Settings, origin, secFetchSite
    case acceptEncoding, connectAcceptEncoding, grpcAcceptEncoding, grpcStatusDetails

    /// The field as a bit of a set.
    @inline(__always)
    var bit: UInt32 { 1 << UInt32(rawValue) }

    /// Recognises a name in small letters.
    public init(_ name: Span<UInt8>) {
        self = Self.candidate(name)
    }

    private static func candidate(_ name: Span<UInt8>) -> KnownField {
        switch name.count {
        case 2: name.equals("te") ? .te : .other
        case 4: name.equals("host") ? .host : .other
        case 6: candidate6(name)
        case 7: name.equals("upgrade") ? .upgrade : name.equals("trailer") ? .trailer : .other
        case 10: candidate10(name)
        case 11: name.equals("grpc-status") ? .grpcStatus : .other
        case 12: candidate12(name)
        case 13: name.equals("grpc-encoding") ? .grpcEncoding : name.equals("authorization") ? .authorization : .other
        case 14: candidate14(name)
        case 15: name.equals("accept-encoding") ? .acceptEncoding : .other
        case 16: name.equals("content-encoding") ? .contentEncoding : proxyConnection(name)
        case 17: name.equals("transfer-encoding") ? .transferEncoding : .other
        case 18: candidate18(name)
        case 19: name.equals("proxy-authorization") ? .proxyAuthorization : .other
        case 20: name.equals("grpc-accept-encoding") ? .grpcAcceptEncoding : .other
        case 23: candidate23(name)
        case 24: candidate24(name)
        default: .other
        }
    }

    private static func candidate6(_ name: Span<UInt8>) -> KnownField {
        if name.equals("expect") { return .expect }
        return name.equals("cookie") ? .cookie : name.equals("origin") ? .origin : .other
    }

    private static func candidate14(_ name: Span<UInt8>) -> KnownField {
        if name.equals("content-length") { return .contentLength }
        return name.equals("sec-fetch-site") ? .secFetchSite : name.equals("http2-settings") ? .http2Settings : .other
    }

    private static func candidate10(_ name: Span<UInt8>) -> KnownField {
        if name.equals("connection") { return .connection }
        return name.equals("keep-alive") ? .keepAlive : name.equals("set-cookie") ? .setCookie : .other
    }

    private static func candidate12(_ name: Span<UInt8>) -> KnownField {
        if name.equals("content-type") { return .contentType }
        return name.equals("grpc-message") ? .grpcMessage : name.equals("grpc-timeout") ? .grpcTimeout : .other
    }

    private static func candidate23(_ name: Span<UInt8>) -> KnownField {
        if name.equals("connect-accept-encoding") { return .connectAcceptEncoding }
        return name.equals("grpc-status-details-bin") ? .grpcStatusDetails : .other
    }

    private static func candidate24(_ name: Span<UInt8>) -> KnownField {
        if name.equals("connect-protocol-version") { return .connectProtocolVersion }
        return name.equals("connect-content-encoding") ? .connectContentEncoding : .other
    }

    private static func candidate18(_ name: Span<UInt8>) -> KnownField {
        name.equals("proxy-authenticate")
            ? .proxyAuthenticate : name.equals("connect-timeout-ms") ? .connectTimeout : .other
    }

    private static func proxyConnection(_ name: Span<UInt8>) -> KnownField {
        name.equals("proxy-connection") ? .proxyConnection : .other
    }

    /// Whether the field belongs to one connection and is not forwarded (RFC 9110 §7.6.1).
    public var isHopByHop: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .transferEncoding,
            .te, .trailer, .upgrade, .http2Settings:
            true
        default: false
        }
    }

    /// Whether the field is dropped from a trailer section: there it could only mislead whoever takes it for a part of
    /// the head (RFC 9110 §6.5.1).
    public var isForbiddenInTrailers: Bool {
        switch self {
        case .host, .contentLength, .contentType, .contentEncoding, .expect: true
        case .authorization, .cookie, .setCookie: true
        default: isHopByHop
        }
    }
}
