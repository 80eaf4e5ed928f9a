internal import COpenSSL

/// The versions of TLS that are spoken; older ones never are (RFC 8996).
public enum TLSVersion: Sendable {
    /// RFC 5246.
    case tls12
    /// RFC 8446.
    case tls13

    var number: Int32 {
        switch self {
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}

/// The library that does the cryptography.
public enum TLSLibrary {
    /// The version of OpenSSL that the process runs with.
    public static var version: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }
}
