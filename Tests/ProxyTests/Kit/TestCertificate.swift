import TLS

/// A certificate for a.example that vouches for itself, good from 2020 to 2120, and its key: of no use but here.
enum TestCertificate {
    static func server() throws -> TLSServerContext {
        try TLSServerContext(
            identity: TLSIdentity(certificate: Array(certificate.utf8), key: Array(key.utf8)),
            clientAuthorities: nil,
            minimum: .tls12,
            protocols: ["http/1.1"]
        )
    }

    static func client(of name: String = "a.example") throws -> TLSClientContext {
        try TLSClientContext(
            TLSClientContext.Options(
                name: name,
                isAddress: false,
                authorities: TLSAuthorities(pem: Array(certificate.utf8)),
                protocols: ["http/1.1"]
            )
        )
    }

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIH3MIGqoAMCAQICAQEwBQYDK2VwMA8xDTALBgNVBAMMBHRlc3QwIBcNMjAwMTAx
        MDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMA8xDTALBgNVBAMMBHRlc3QwKjAFBgMr
        ZXADIQDISy+1G3Txknvm/4KSDQs65UpyQyQ72TiSPfIkMwtzdqMpMCcwDwYDVR0T
        AQH/BAUwAwEB/zAUBgNVHREEDTALgglhLmV4YW1wbGUwBQYDK2VwA0EAuAJd8zM6
        HJ3tieQreEu528yHWmPv96yBl8NH8dpSQgvXOq9A9rgWbtRhy13KRxIR6QvQy/P2
        PWe8LfSCFr5yBg==
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIMvbN972AZroas84OVf5CrQpLDPNg1LV8jT43lUlYOmf
        -----END PRIVATE KEY-----
        """
}
