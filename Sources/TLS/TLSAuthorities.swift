internal import COpenSSL

/// Whose signature makes a certificate good.
public enum TLSAuthorities: Sendable {
    /// Those that the system trusts.
    case system
    /// Those of a list, and nobody else.
    case listed(List)

    /// Certificates of authorities.
    public struct List: Sendable {
        let certificates: [Certificate]
    }

    /// Reads a list in PEM.
    public init(pem: [UInt8]) throws(TLSMaterialError) {
        self = .listed(List(certificates: try PEM.certificates(in: pem)))
    }

    /// The file and the directory where OpenSSL looks for the authorities of the system.
    public static var systemLocations: [String] {
        unsafe [
            String(cString: X509_get_default_cert_file()), String(cString: X509_get_default_cert_dir()),
        ]
    }
}
