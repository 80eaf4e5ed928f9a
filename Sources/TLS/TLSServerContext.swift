internal import COpenSSL

/// What all connections of one listener have in common: who we are, and whether callers have to say who they are.
///
/// Any thread may use it.
public final class TLSServerContext: Sendable {
    let context: TLSContext

    /// Makes a context.
    ///
    /// - Parameters:
    ///   - identity: who we are.
    ///   - clientAuthorities: who must have signed a caller's certificate; nil does not ask for one.
    ///   - minimum: the oldest version that is good enough.
    ///   - protocols: what can be spoken, by the names of ALPN (RFC 7301), the best first.
    /// - Throws: what is wrong with the identity, such as a key that is too weak.
    public init(
        identity: TLSIdentity,
        clientAuthorities: TLSAuthorities?,
        minimum: TLSVersion,
        protocols: [String]
    ) throws(TLSMaterialError) {
        let check = clientAuthorities.map { _ in CertificateCheck(pins: [], matchesAll: false) }
        context = unsafe TLSContext(TLS_server_method(), minimum: minimum, protocols: protocols, check: check)
        context.chooseProtocols()
        try context.show(identity)
        // Sessions are in tickets, under keys of this context: nothing to remember, and gone with the certificate.
        unsafe martlet_ssl_ctx_set_cache_mode(context.raw, Int(SSL_SESS_CACHE_OFF))
        guard let clientAuthorities else { return }
        context.trust(clientAuthorities)
        // Without it OpenSSL does not resume a session whose caller has shown a certificate.
        let name = Array("martlet".utf8)
        _ = unsafe SSL_CTX_set_session_id_context(context.raw, name, UInt32(name.count))
        guard case .listed(let list) = clientAuthorities else { return }
        for certificate in list.certificates { unsafe SSL_CTX_add_client_CA(context.raw, certificate.raw) }
    }
}
