internal import COpenSSL

/// Whether the other end is who it has to be: the chain of its certificates, and the pins.
@safe
final class CertificateCheck: Sendable {
    private let pins: [TLSPin]
    private let matchesAll: Bool

    /// Makes a check that asks for pins, if there are any, of one certificate of the chain or of all that were sent.
    init(pins: [TLSPin], matchesAll: Bool) {
        self.pins = pins
        self.matchesAll = matchesAll
    }

    /// Checks a chain; the pins come behind the verification, never in its place.
    func passes(_ store: OpaquePointer) -> Bool {
        guard unsafe X509_verify_cert(store) == 1 else { return false }
        guard !pins.isEmpty else { return true }
        // For "any" the chain that has been verified: to the one that was sent, somebody could add what is pinned.
        let chain = unsafe matchesAll ? X509_STORE_CTX_get0_untrusted(store) : X509_STORE_CTX_get0_chain(store)
        let count = unsafe OPENSSL_sk_num(chain)
        let matches = (0..<count).map { index in
            let certificate = unsafe OpaquePointer(OPENSSL_sk_value(chain, index)!)
            return pins.contains { unsafe $0.matches(certificate) }
        }
        if matchesAll ? matches.allSatisfy({ $0 }) && count > 0 : matches.contains(true) { return true }
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
        return false
    }
}
