import COpenSSL
import Testing

@testable import TLS

/// Signatures of JWS.
@Suite struct SigningKeyTests {
    private static func error(_ pem: [UInt8], _ algorithm: SigningAlgorithm) -> String? {
        do throws(TLSMaterialError) {
            _ = try SigningKey(pem: pem, algorithm: algorithm)
            return nil
        } catch {
            return error.text
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: bytes.count * 4 / 3 + 8)
        let count = unsafe EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text[..<Int(count)].filter { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            .replacing("+", with: "-").replacing("/", with: "_")
    }

    @Test func `RS256 signs as RFC 7515 A 2 does`() throws {
        let key = try SigningKey(pem: Array(Self.rfc7515.utf8), algorithm: .rs256)
        let input =
            "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
            + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let signature =
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
            + "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB"
            + "_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rq"
            + "Vt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
        #expect(try Self.base64(key.signature(of: Array(input.utf8))) == signature)
    }

    @Test func `EdDSA signs as RFC 8037 A 4 does`() throws {
        let key = try SigningKey(pem: Array(Self.rfc8037.utf8), algorithm: .edDSA)
        let input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        #expect(try Self.base64(key.signature(of: Array(input.utf8))) == signature)
    }

    @Test func `ES256 signs in 64 bytes that verify, however small its numbers are`() throws {
        let made = TestKey("EC", curve: "P-256")
        let key = try SigningKey(pem: made.pem, algorithm: .es256)
        var shortNumbers = 0
        // One number in 256 begins with a zero byte, which DER leaves out.
        for count in 0..<2000 {
            let message = Array("message \(count)".utf8)
            let signature = try key.signature(of: message)
            #expect(signature.count == 64)
            if signature[0] == 0 || signature[32] == 0 { shortNumbers += 1 }
            let der = TestKey.der(ofFixedLength: signature)
            #expect(unsafe made.verifies(der, of: message, digest: EVP_sha256()))
            if count == 0 { #expect(unsafe !made.verifies(der, of: [1], digest: EVP_sha256())) }
        }
        #expect(shortNumbers > 0)
    }

    @Test func `an RSA key of 2048 bits signs, and a smaller one does not`() throws {
        let made = TestKey("RSA", bits: 2048)
        let signature = try SigningKey(pem: made.pem, algorithm: .rs256).signature(of: [1, 2, 3])
        #expect(signature.count == 256)
        #expect(unsafe made.verifies(signature, of: [1, 2, 3], digest: EVP_sha256()))
        #expect(
            Self.error(TestKey("RSA", bits: 1024).pem, .rs256)
                == "the private key has 1024 bits, but RS256 requires an RSA key of at least 2048 bits; create a new key"
        )
    }

    @Test func `a key of another type is rejected with a reason`() {
        let ed25519 = TestKey("ED25519").pem
        #expect(
            Self.error(ed25519, .rs256)
                == "the private key has the type ED25519, but RS256 requires an RSA key of at least 2048 bits; create a new key"
        )
        #expect(
            Self.error(ed25519, .es256)
                == "the private key has the type ED25519, but ES256 requires an EC key on the curve P-256; create a new key"
        )
        #expect(
            Self.error(TestKey("EC", curve: "P-384").pem, .es256)
                == "the private key is on the curve secp384r1, but ES256 requires an EC key on the curve P-256; create a new key"
        )
        #expect(
            Self.error(TestKey("EC", curve: "P-256").pem, .edDSA)
                == "the private key has the type EC, but EdDSA requires an Ed25519 key; create a new key"
        )
        #expect(
            Self.error(Array(Self.rfc7515.utf8), .edDSA)
                == "the private key has the type RSA, but EdDSA requires an Ed25519 key; create a new key"
        )
        #expect(
            Self.error(TestKey("RSA-PSS", bits: 2048).pem, .rs256)?.hasPrefix("the private key has the type RSA-PSS")
                == true
        )
    }

    @Test func `what is no key is rejected`() {
        #expect(Self.error([], .es256) == "the file contains no private key; write PEM")
    }

    @Test func `no error is left for others on the thread`() throws {
        _ = Self.error(TestKey("EC", curve: "P-384").pem, .es256)
        _ = try SigningKey(pem: TestKey("EC", curve: "P-256").pem, algorithm: .es256).signature(of: [])
        #expect(ERR_peek_error() == 0)
    }

    /// The key of RFC 7515 A.2, which everybody knows.
    private static let rfc7515 = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
        jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
        aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
        juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
        ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
        toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
        VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
        PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
        O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
        kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
        XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
        4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
        pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
        0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
        lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
        kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
        rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
        kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
        5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
        9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
        evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
        yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
        OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
        tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
        ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
        03k2+ZQwVK0JKSHuLFkuQ3U=
        -----END PRIVATE KEY-----
        """

    /// The key of RFC 8037 A.1, which everybody knows.
    private static let rfc8037 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
        -----END PRIVATE KEY-----
        """
}
