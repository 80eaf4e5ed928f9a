internal import COpenSSL

/// What a certificate must be, over and above being good.
public enum TLSPin: Equatable, Sendable {
    /// One with the public key that has this SHA-256 (RFC 7469 §2.4); a renewed certificate may keep its key.
    case publicKey([UInt8])
    /// Exactly this one, in DER.
    case certificate([UInt8])

    /// Reads `sha256/` and the base64 of 32 bytes.
    public init(_ text: String) throws(TLSMaterialError) {
        let prefix = "sha256/"
        let base64 = Array(text.dropFirst(prefix.count).utf8)
        guard text.hasPrefix(prefix), base64.count == 44, base64.firstIndex(of: UInt8(ascii: "=")) == 43 else {
            throw Self.malformed
        }
        var decoded = [UInt8](repeating: 0, count: 33)
        let count = unsafe EVP_DecodeBlock(&decoded, base64, 44)
        ErrorQueue.clear()
        // One byte more than there is, for the padding.
        guard count == 33, decoded[32] == 0 else { throw Self.malformed }
        self = .publicKey(Array(decoded[..<32]))
    }

    /// Pins all certificates of a file in PEM.
    public static func certificates(pem: [UInt8]) throws(TLSMaterialError) -> [TLSPin] {
        try PEM.certificates(in: pem).map { .certificate($0.der) }
    }

    private static let malformed = TLSMaterialError(
        "a pin must be the SHA-256 of a public key in base64; write sha256/ and 44 characters"
    )

    /// Whether an `X509` is what the pin asks for; unsafe because it is a bare pointer.
    @unsafe
    func matches(_ raw: OpaquePointer) -> Bool {
        switch self {
        case .publicKey(let digest): unsafe Certificate.publicKeyDigest(of: raw) == digest
        case .certificate(let der): unsafe Certificate.der(of: raw) == der
        }
    }
}
