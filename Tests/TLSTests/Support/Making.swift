@testable import TLS

/// A client that expects `name` of an authority.
func client(
    _ name: String = "a.example",
    trusting authority: TestAuthority?,
    isAddress: Bool = false,
    protocols: [String] = ["http/1.1"],
    change: (inout TLSClientContext.Options) throws -> Void = { _ in }
) throws -> TLSClientContext {
    var options = TLSClientContext.Options(
        name: name,
        isAddress: isAddress,
        authorities: try authority.map { try TLSAuthorities(pem: $0.certificate) },
        protocols: protocols
    )
    try change(&options)
    return try TLSClientContext(options)
}

/// A server that shows a certificate.
func server(
    _ issued: TestAuthority.Issued,
    clients: TestAuthority? = nil,
    minimum: TLSVersion = .tls12,
    protocols: [String] = ["h2", "http/1.1"]
) throws -> TLSServerContext {
    try TLSServerContext(
        identity: TLSIdentity(certificate: issued.certificate, key: issued.key),
        clientAuthorities: clients.map { try TLSAuthorities(pem: $0.certificate) },
        minimum: minimum,
        protocols: protocols
    )
}
