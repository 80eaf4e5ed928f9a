/// An algorithm by which tokens are signed (RFC 7518 §3.1, RFC 8037 §3.1).
public enum SigningAlgorithm: String, CaseIterable, Sendable {
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    case rs256 = "RS256"
    /// ECDSA on the curve P-256 with SHA-256 (RFC 7518 §3.4).
    case es256 = "ES256"
    /// Ed25519 (RFC 8037 §3.1).
    case edDSA = "EdDSA"

    /// The keys that it takes, in words.
    var fittingKey: String {
        switch self {
        case .rs256: "an RSA key of at least \(Self.minRSAKeyBits) bits"
        case .es256: "an EC key on the curve P-256"
        case .edDSA: "an Ed25519 key"
        }
    }

    /// The smallest RSA key that may sign, in bits (RFC 7518 §3.3).
    static let minRSAKeyBits = 2048
}
