internal import COpenSSL

/// A certificate with those that vouch for it, and its private key.
public struct TLSIdentity: Sendable {
    let chain: [Certificate]
    let key: PrivateKey

    /// Which of the two files an error is about.
    public enum LoadError: Error, Equatable, Sendable {
        /// The file of certificates.
        case certificate(TLSMaterialError)
        /// The file of the key.
        case key(TLSMaterialError)
    }

    /// Reads a chain, its own certificate first, and the key that belongs to it, both in PEM.
    public init(certificate: [UInt8], key: [UInt8]) throws(LoadError) {
        do throws(TLSMaterialError) {
            chain = try PEM.certificates(in: certificate)
        } catch {
            throw .certificate(error)
        }
        do throws(TLSMaterialError) {
            self.key = try PEM.key(in: key)
        } catch {
            throw .key(error)
        }
        let matches = unsafe X509_check_private_key(chain[0].raw, self.key.raw) == 1
        let error = ErrorQueue.pop()
        if !matches { throw Self.error(error) }
    }

    /// Why a key was not found to be that of a certificate.
    static func error(_ error: UInt) -> LoadError {
        switch ErrorQueue.reason(of: error) {
        case X509_R_KEY_VALUES_MISMATCH, X509_R_KEY_TYPE_MISMATCH:
            .key(TLSMaterialError("the private key does not belong to the certificate; use a matching pair"))
        default:
            // The key of a certificate is read when it is first asked for.
            .certificate(
                TLSMaterialError(error) {
                    "the public key of the certificate cannot be read (\($0)); use another certificate"
                }
            )
        }
    }

    /// When the first certificate of the chain ceases to be good, in seconds since 1970.
    public var expires: Int {
        chain.reduce(.max) { min($0, $1.expires) }
    }
}
