import Testing

@testable import TLS

/// Whose certificates are good.
@Suite struct CertificateTests {
    private let authority = TestAuthority()

    private func failure(
        of issued: TestAuthority.Issued,
        name: String = "a.example",
        isAddress: Bool = false,
        change: (inout TLSClientContext.Options) throws -> Void = { _ in }
    ) throws -> TLSError? {
        let pair = try Pair(
            client(name, trusting: authority, isAddress: isAddress, change: change),
            server(issued)
        )
        #expect(pair.client.session.isEstablished == (pair.client.session.error == nil))
        #expect(pair.server.text == "")
        return pair.client.session.error
    }

    @Test func `a certificate for the name by the authority is good`() throws {
        #expect(try failure(of: authority.issue("DNS:a.example")) == nil)
        #expect(try failure(of: authority.issue("DNS:*.a.example"), name: "b.a.example") == nil)
        #expect(try failure(of: authority.issue("IP:127.0.0.1"), name: "127.0.0.1", isAddress: true) == nil)
    }

    @Test(arguments: ["DNS:b.example", "DNS:a.example.evil", "IP:127.0.0.1", "DNS:a*.example"])
    func `a certificate for another name is rejected`(_ names: String) throws {
        #expect(try failure(of: authority.issue(names)) == .certificate("the certificate is not for a.example"))
    }

    @Test func `a name is no address`() throws {
        let issued = authority.issue("DNS:127.0.0.1")
        let expected = TLSError.certificate("the certificate is not for 127.0.0.1")
        #expect(try failure(of: issued, name: "127.0.0.1", isAddress: true) == expected)
    }

    @Test func `an expired certificate is rejected`() throws {
        let expected = TLSError.certificate("the certificate, or a CA certificate in its chain, has expired")
        #expect(try failure(of: authority.issue("DNS:a.example", days: -1)) == expected)
    }

    @Test func `another authority is rejected`() throws {
        let other = TestAuthority("Other")
        let expected = TLSError.certificate("the certificate is not trusted: unable to get local issuer certificate")
        #expect(try failure(of: other.issue("DNS:a.example")) == expected)
    }

    @Test func `without authorities anything goes`() throws {
        let issued = TestAuthority("Other").issue("DNS:b.example", days: -1)
        #expect(try failure(of: issued) { $0.authorities = nil } == nil)
    }

    @Test func `a pin holds the key and not the certificate`() throws {
        let old = authority.issue("DNS:a.example")
        let renewed = authority.issue("DNS:a.example", key: old.key)
        let other = authority.issue("DNS:a.example")
        #expect(old.certificate != renewed.certificate)
        let pins = [try TLSPin(old.pin)]
        #expect(try failure(of: old) { $0.pins = pins } == nil)
        #expect(try failure(of: renewed) { $0.pins = pins } == nil)
        #expect(try failure(of: other) { $0.pins = pins } == .pin)
        #expect(try failure(of: other) { $0.pins = pins + [try TLSPin(other.pin)] } == nil)
    }

    @Test func `a pinned certificate is that one and no other`() throws {
        let old = authority.issue("DNS:a.example")
        let renewed = authority.issue("DNS:a.example", key: old.key)
        let pins = try TLSPin.certificates(pem: old.certificate)
        #expect(try failure(of: old) { $0.pins = pins } == nil)
        #expect(try failure(of: renewed) { $0.pins = pins } == .pin)
    }

    @Test func `the authority can be pinned where any certificate of the chain will do`() throws {
        let pins = try TLSPin.certificates(pem: authority.certificate)
        let issued = authority.issue("DNS:a.example")
        #expect(try failure(of: issued) { $0.pins = pins } == nil)
        #expect(
            try failure(of: issued) {
                $0.pins = pins
                $0.matchesAllPins = true
            } == .pin
        )
    }

    @Test func `what is sent beside the chain satisfies no pin`() throws {
        let (real, own) = (authority.issue("DNS:a.example"), authority.issue("DNS:a.example"))
        let forged = TestAuthority.Issued(certificate: own.certificate + real.certificate, key: own.key, pin: "")
        #expect(try failure(of: forged) { $0.pins = [try TLSPin(real.pin)] } == .pin)
    }

    @Test func `a pin does not make a bad certificate good`() throws {
        let expired = authority.issue("DNS:a.example", days: -1)
        let expected = TLSError.certificate("the certificate, or a CA certificate in its chain, has expired")
        #expect(try failure(of: expired) { $0.pins = [try TLSPin(expired.pin)] } == expected)
    }

    @Test func `a server that asks for a certificate gets one it trusts, or nobody`() throws {
        let clients = TestAuthority("Clients")
        let asking = try server(authority.issue("DNS:a.example"), clients: clients)
        func pair(_ issued: TestAuthority.Issued?) throws -> Pair {
            try Pair(
                client(trusting: authority) {
                    $0.identity = try issued.map { try TLSIdentity(certificate: $0.certificate, key: $0.key) }
                },
                asking
            )
        }
        #expect(try pair(clients.issue("DNS:me")).server.session.isEstablished)
        let anonymous = try pair(nil)
        #expect(anonymous.server.session.error == .malformed("peer did not return a certificate"))
        #expect(anonymous.client.session.error == .alert("certificate required"))
        let stranger = try pair(TestAuthority("Strangers").issue("DNS:me"))
        #expect(!stranger.server.session.isEstablished)
        #expect(stranger.client.session.error == .alert("unknown ca"))
    }
}
