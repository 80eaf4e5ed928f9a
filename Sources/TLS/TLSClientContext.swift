internal import COpenSSL

/// What all connections to one upstream have in common: whom to trust, whom to expect, and who we are.
///
/// Any thread may use it.
public final class TLSClientContext: Sendable {
    /// How an upstream is to be spoken to.
    public struct Options: Sendable {
        /// The host name, or IP address, that the upstream's certificate must be for; a name is told to it, too (SNI).
        public var name: String
        /// Whether `name` is an IP address.
        public var isAddress: Bool
        /// Whose signature makes the upstream's certificate good; nil takes any certificate of anybody.
        public var authorities: TLSAuthorities?
        /// What the upstream's certificates must be over and above; nothing if there are none.
        public var pins: [TLSPin] = []
        /// Whether every certificate that the upstream sends must be pinned, instead of one in the chain.
        public var matchesAllPins = false
        /// The oldest version that is good enough.
        public var minimum = TLSVersion.tls12
        /// Who we are, if the upstream asks.
        public var identity: TLSIdentity?
        /// What can be spoken, by the names of ALPN (RFC 7301), the best first.
        public var protocols: [String]

        /// Expects `name`, whose certificate is good by `authorities`.
        public init(name: String, isAddress: Bool, authorities: TLSAuthorities?, protocols: [String]) {
            self.name = name
            self.isAddress = isAddress
            self.authorities = authorities
            self.protocols = protocols
        }
    }

    let context: TLSContext
    let name: String
    let isAddress: Bool

    /// Makes a context; it fails if the identity is too weak.
    public init(_ options: Options) throws(TLSMaterialError) {
        let check = options.authorities.map { _ in
            CertificateCheck(pins: options.pins, matchesAll: options.matchesAllPins)
        }
        context = unsafe TLSContext(
            TLS_client_method(),
            minimum: options.minimum,
            protocols: options.protocols,
            check: check
        )
        name = options.name
        isAddress = options.isAddress
        context.offerProtocols()
        if let authorities = options.authorities {
            context.trust(authorities)
            try expectName()
        }
        if let identity = options.identity { try context.show(identity) }
        unsafe martlet_ssl_ctx_set_cache_mode(
            context.raw,
            Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL)
        )
        unsafe SSL_CTX_sess_set_new_cb(context.raw) { ssl, session in
            unsafe TLSSession.of(ssl!) { unsafe $0.keep(session!) } ? 1 : 0
        }
    }

    /// Without this a certificate for any name would do, so it must not go wrong unnoticed.
    private func expectName() throws(TLSMaterialError) {
        let parameters = unsafe SSL_CTX_get0_param(context.raw)
        let result: Int32
        if isAddress {
            result = unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
        } else {
            // RFC 9525 §2: the name is among the alternative names or nowhere.
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            unsafe X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
            result = unsafe X509_VERIFY_PARAM_set1_host(parameters, name, 0)
        }
        guard result == 1 else {
            throw TLSMaterialError("\(name) is not a valid certificate name; write a host name or an IP address")
        }
    }
}
