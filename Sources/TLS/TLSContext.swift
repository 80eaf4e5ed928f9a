internal import COpenSSL

/// What all connections of one sort have in common: an `SSL_CTX`.
///
/// It is not changed after it has been made, so that all threads may make connections by it: they share one, so that
/// a caller that comes back to another worker can still resume its session.
@safe
final class TLSContext: @unchecked Sendable {
    let raw: OpaquePointer
    /// What is spoken over the connections, by the names of ALPN, the best first.
    let protocols: [String]
    /// The same as it is sent (RFC 7301 §3.1); OpenSSL keeps a pointer to it.
    private let protocolList: UnsafeMutableBufferPointer<UInt8>
    private let check: CertificateCheck?

    /// Names of protocols as ALPN has them (RFC 7301 §3.1).
    static func list(_ protocols: [String]) -> [UInt8] {
        protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    /// Makes a context; without a check nobody's certificate is asked for.
    init(_ method: OpaquePointer, minimum: TLSVersion, protocols: [String], check: CertificateCheck?) {
        guard let raw = unsafe SSL_CTX_new(method) else { fatalError("out of memory creating a TLS context") }
        unsafe self.raw = raw
        self.protocols = protocols
        self.check = check
        let list = Self.list(protocols)
        unsafe protocolList = .allocate(capacity: list.count)
        _ = unsafe protocolList.initialize(from: list)
        unsafe martlet_ssl_ctx_set_modes(raw)
        unsafe martlet_ssl_ctx_set_minimum(raw, minimum.number)
        countMessages()
        guard let check else { return }
        let context = unsafe Unmanaged.passUnretained(check).toOpaque()
        unsafe SSL_CTX_set_cert_verify_callback(
            raw,
            { store, context in
                unsafe Unmanaged<CertificateCheck>.fromOpaque(context!)._withUnsafeGuaranteedRef {
                    unsafe $0.passes(store!) ? 1 : 0
                }
            },
            context
        )
        unsafe SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    /// Has each session count the messages of the handshake that come.
    ///
    /// Of an attempt at another handshake, which is rejected, a server tells nothing but the alert that it responds with.
    private func countMessages() {
        unsafe SSL_CTX_set_msg_callback(raw) { isSent, _, kind, _, _, ssl, _ in
            guard kind == (isSent == 0 ? SSL3_RT_HANDSHAKE : SSL3_RT_ALERT) else { return }
            unsafe TLSSession.of(ssl!) { $0.countMessage() }
        }
    }

    deinit {
        unsafe SSL_CTX_free(raw)
        unsafe protocolList.deallocate()
    }

    /// Trusts these authorities.
    func trust(_ authorities: TLSAuthorities) {
        switch authorities {
        case .system(let system): unsafe SSL_CTX_set1_cert_store(raw, system.store)
        case .listed(let list):
            let store = unsafe SSL_CTX_get_cert_store(raw)
            for certificate in list.certificates { unsafe X509_STORE_add_cert(store, certificate.raw) }
            // Who names an intermediate authority, or a server's own certificate, means that one.
            unsafe X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(raw), UInt(X509_V_FLAG_PARTIAL_CHAIN))
        }
    }

    /// Shows this certificate to the other end.
    func show(_ identity: TLSIdentity) throws(TLSMaterialError) {
        let others = unsafe OPENSSL_sk_new_null()
        defer { unsafe OPENSSL_sk_free(others) }
        for certificate in identity.chain.dropFirst() {
            unsafe OPENSSL_sk_push(others, UnsafeRawPointer(certificate.raw))
        }
        let done = unsafe SSL_CTX_use_cert_and_key(raw, identity.chain[0].raw, identity.key.raw, others, 1)
        // OpenSSL rejects what is too weak, such as an RSA key of 1024 bits.
        guard done == 1 else { throw TLSMaterialError(ErrorQueue.pop()) { "\($0); create a new one" } }
    }

    /// Offers the protocols to a server.
    func offerProtocols() {
        _ = unsafe SSL_CTX_set_alpn_protos(raw, protocolList.baseAddress, UInt32(protocolList.count))
    }

    /// Chooses from the protocols that a client offers; the order of the server counts.
    func chooseProtocols() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe SSL_CTX_set_alpn_select_cb(
            raw,
            { _, chosen, length, offered, count, context in
                unsafe Unmanaged<TLSContext>.fromOpaque(context!)._withUnsafeGuaranteedRef { own in
                    let list = unsafe own.protocolList
                    let result = unsafe chosen!.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 1) {
                        unsafe SSL_select_next_proto($0, length, list.baseAddress, UInt32(list.count), offered, count)
                    }
                    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
                }
            },
            context
        )
    }
}
