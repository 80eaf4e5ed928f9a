internal import CAres

/// Why a name has no addresses.
public enum ResolverError: Error, Equatable, Sendable {
    /// No such name exists.
    case noSuchHost
    /// The name exists and has no address.
    case noAddress
    /// What was asked for is not a host name.
    case badName
    /// No DNS server responded in time.
    case noResponse
    /// The DNS server cannot be reached, or responded that it failed or will not say.
    case serverFailed
    /// The DNS server responded with what cannot be understood.
    case badResponse
    /// Something else, in the words of the library.
    case other(String)

    init(status: Int32) {
        switch status {
        case ARES_ENOTFOUND, ARES_ENONAME: self = .noSuchHost
        case ARES_ENODATA: self = .noAddress
        case ARES_EBADNAME, ARES_EBADSTR: self = .badName
        case ARES_ETIMEOUT: self = .noResponse
        // When the last server has failed, c-ares says "connection refused", whatever the server said.
        case ARES_ECONNREFUSED, ARES_ESERVFAIL, ARES_EREFUSED, ARES_ENOTIMP, ARES_EFORMERR: self = .serverFailed
        case ARES_EBADRESP: self = .badResponse
        default: self = .other(unsafe String(cString: ares_strerror(status)))
        }
    }
}

extension ResolverError: CustomStringConvertible {
    /// The cause in words, without the name.
    public var description: String {
        switch self {
        case .noSuchHost: "no such host"
        case .noAddress: "the host has no address"
        case .badName: "not a valid host name"
        case .noResponse: "the DNS server did not respond"
        case .serverFailed: "the DNS server failed or cannot be reached"
        case .badResponse: "the DNS server sent an invalid response"
        case .other(let text): text
        }
    }
}
