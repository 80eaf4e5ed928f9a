internal import COpenSSL
private import Glibc

/// Whose signature makes a certificate good.
public enum TLSAuthorities: Sendable {
    /// Those that the system trusts.
    case system(System)
    /// Those of a list, and nobody else.
    case listed(List)

    /// The authorities that the system trusts, as they were when this was made.
    ///
    /// To read them takes tens of milliseconds, so contexts share them. Any thread may use it.
    @safe
    public final class System: @unchecked Sendable {
        let store: OpaquePointer

        /// Reads them.
        public init() {
            guard let store = unsafe X509_STORE_new() else {
                fatalError("out of memory creating a certificate store")
            }
            unsafe self.store = store
            unsafe X509_STORE_set_default_paths(store)
            ErrorQueue.clear()
        }

        deinit {
            unsafe X509_STORE_free(store)
        }
    }

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
        let file = unsafe getenv(X509_get_default_cert_file_env()).map { unsafe String(cString: $0) }
        let directory = unsafe getenv(X509_get_default_cert_dir_env()).map { unsafe String(cString: $0) }
        return unsafe [
            file ?? String(cString: X509_get_default_cert_file()),
            directory ?? String(cString: X509_get_default_cert_dir()),
        ]
    }
}
