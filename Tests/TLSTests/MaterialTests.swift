import COpenSSL
import Testing

@testable import TLS

/// What is wrong with a file is told.
@Suite struct MaterialTests {
    private let authority = TestAuthority()

    @Test func `a lack of memory is not taken for a key that does not belong to its certificate`() {
        // What OpenSSL calls ERR_LIB_X509 and ERR_R_MALLOC_FAILURE, as they are packed.
        let (library, memory): (UInt, UInt) = (11 << 23, 256 | 3 << 18)
        func failure(_ reason: UInt) -> TLSIdentity.LoadError { TLSIdentity.error(library | reason) }
        let mismatch = TLSMaterialError("the private key does not belong to the certificate; use a matching pair")
        #expect(failure(UInt(X509_R_KEY_VALUES_MISMATCH)) == .key(mismatch))
        #expect(failure(UInt(X509_R_KEY_TYPE_MISMATCH)) == .key(mismatch))
        #expect(failure(memory) == .certificate(TLSMaterialError("out of memory reading the file")))
        guard case .certificate(let error) = failure(UInt(X509_R_UNABLE_TO_GET_CERTS_PUBLIC_KEY)) else {
            Issue.record("it is not the key that is wrong")
            return
        }
        #expect(error.text.hasPrefix("the public key of the certificate cannot be read ("))
    }

    @Test func `secrets are equal if all their bytes are`() {
        let texts: [[UInt8]] = [
            [], [0], [1], [0, 0], [1, 2, 3], [1, 2, 4], [0, 2, 3], Array(repeating: 7, count: 1000),
        ]
        for (left, first) in texts.enumerated() {
            for (right, second) in texts.enumerated() {
                #expect(ConstantTime.areEqual(first.span, second.span) == (left == right))
            }
        }
    }

    @Test(arguments: [
        "", "sha256/", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "sha256/AAAA",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
        "sha256/!AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ])
    func `a pin that is none is rejected`(_ text: String) {
        #expect(throws: TLSMaterialError.self) { try TLSPin(text) }
    }

    @Test func `a pin is 32 bytes in base64`() throws {
        let text = "sha256/" + String(repeating: "A", count: 43) + "="
        #expect(try TLSPin(text) == .publicKey([UInt8](repeating: 0, count: 32)))
    }

    @Test func `a file that holds something else is rejected with a reason`() throws {
        let issued = authority.issue("DNS:a.example")
        func failure(_ certificate: [UInt8], _ key: [UInt8]) -> TLSIdentity.LoadError? {
            do throws(TLSIdentity.LoadError) {
                _ = try TLSIdentity(certificate: certificate, key: key)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(issued.certificate, issued.key) == nil)
        #expect(failure([], issued.key) == .certificate(.init("the file contains no certificate; write PEM")))
        #expect(failure(issued.key, issued.key) == .certificate(.init("the file contains no certificate; write PEM")))
        #expect(
            failure(issued.certificate, issued.certificate)
                == .key(.init("the file contains no private key; write PEM"))
        )
        let mismatch = "the private key does not belong to the certificate; use a matching pair"
        #expect(failure(issued.certificate, authority.issue("DNS:a.example").key) == .key(.init(mismatch)))
        let encrypted = "the private key is encrypted; store it without a passphrase"
        #expect(failure(issued.certificate, Self.encrypted) == .key(.init(encrypted)))
        var broken = issued.certificate
        broken[100] = UInt8(ascii: "!")
        guard case .certificate(let error)? = failure(broken, issued.key) else {
            Issue.record("a broken certificate is taken")
            return
        }
        #expect(error.text.hasPrefix("the certificate cannot be read"))
    }

    @Test func `a fingerprint reports pieces apart`() {
        #expect(TLSDigest.fingerprint(of: [[1, 2], [3]]) == TLSDigest.fingerprint(of: [[1, 2], [3]]))
        #expect(TLSDigest.fingerprint(of: [[1, 2], [3]]) != TLSDigest.fingerprint(of: [[1], [2, 3]]))
    }

    private static let encrypted = Array(
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjAAAAAAAAAAAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAAAAAAAAAAAAAAAAAAAAAAEQAAA
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
        AAAAAAAAAAAAAAAAAAAAAAAAAAA=
        -----END ENCRYPTED PRIVATE KEY-----
        """.utf8
    )
}
