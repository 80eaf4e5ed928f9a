internal import CAres

/// Why a name has no addresses.
public enum ResolverError: Error, Equatable, Sendable {
    /// No such name exists.
    case noSuchHost
    /// The name exists and has no address.
    case noAddress
    /// What was asked for is not a host name.
    case badName
    /// No DNS server answered in time.
    case noAnswer
    /// The DNS server cannot be reached, or answered that it failed or will not say.
    case serverFailed
    /// The DNS server answered what cannot be understood.
    case badAnswer
    /// Something else, in the words of the library.
    case other(String)

    init(status: Int32) {
        switch status {
        case ARES_ENOTFOUND, ARES_ENONAME: self = .noSuchHost
        case ARES_ENODATA: self = .noAddress
        case ARES_EBADNAME, ARES_EBADSTR: self = .badName
        case ARES_ETIMEOUT: self = .noAnswer
        // When the last server has failed, c-ares says "connection refused", whatever the server said.
        case ARES_ECONNREFUSED, ARES_ESERVFAIL, ARES_EREFUSED, ARES_ENOTIMP, ARES_EFORMERR: self = .serverFailed
        case ARES_EBADRESP: self = .badAnswer
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
        case .badName: "not a host name"
        case .noAnswer: "DNS server did not answer"
        case .serverFailed: "DNS server failed or cannot be reached"
        case .badAnswer: "DNS server sent a bad answer"
        case .other(let text): text
        }
    }
}
