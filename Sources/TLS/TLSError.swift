internal import COpenSSL

/// Why a connection could not be secured, or is not any more.
public enum TLSError: Error, Equatable, Sendable {
    /// The other end's certificate is not good; in words.
    case certificate(String)
    /// The other end's certificate is good, and not one that is pinned.
    case pin
    /// The other end speaks nothing of what was offered to it (RFC 7301 §3.2).
    case noCommonProtocol
    /// The other end said why it ends the connection; in words.
    case alert(String)
    /// What the other end sent is not TLS, or not as it has to be; in words.
    case malformed(String)
    /// The other end closed the connection in the middle of the handshake.
    case closed

    /// The failure that the error at the head of the queue tells of.
    init(_ error: UInt, verification: Int, name: String) {
        let reason = ErrorQueue.reason(of: error)
        // OpenSSL numbers the errors that are alerts of the other end from here on.
        let firstAlert = SSL_AD_REASON_OFFSET
        if reason == SSL_R_CERTIFICATE_VERIFY_FAILED {
            self = Self.unverified(Int32(verification), name)
        } else if reason == firstAlert + SSL_AD_NO_APPLICATION_PROTOCOL {
            self = .noCommonProtocol
        } else if firstAlert..<firstAlert + 256 ~= reason {
            let text = ErrorQueue.text(of: error)
            let words = text.split(separator: "alert ", maxSplits: 1)
            self = .alert(words.count == 2 ? String(words[1]) : text)
        } else if [SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST].contains(reason) {
            self = .malformed("the peer does not speak TLS")
        } else {
            self = .malformed(ErrorQueue.text(of: error))
        }
    }

    private static func unverified(_ verification: Int32, _ name: String) -> TLSError {
        switch verification {
        case X509_V_ERR_APPLICATION_VERIFICATION: .pin
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            .certificate("the certificate is not for \(name)")
        case X509_V_ERR_CERT_HAS_EXPIRED: .certificate("the certificate, or a CA certificate in its chain, has expired")
        case X509_V_ERR_CERT_NOT_YET_VALID: .certificate("the certificate is not yet valid")
        default:
            .certificate(
                unsafe "the certificate is not trusted: \(String(cString: X509_verify_cert_error_string(Int(verification))))"
            )
        }
    }
}

extension TLSError: CustomStringConvertible {
    /// The cause in words.
    public var description: String {
        switch self {
        case .certificate(let text), .malformed(let text): text
        case .pin: "no certificate of the chain matches a pin"
        case .noCommonProtocol: "the peer supports neither HTTP/2 nor HTTP/1.1"
        case .alert(let text): "the peer rejected the handshake: \(text)"
        case .closed: "the peer closed the connection during the handshake"
        }
    }
}
