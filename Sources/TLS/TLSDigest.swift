internal import COpenSSL

/// SHA-256, to tell whether something is still the same.
public enum TLSDigest {
    /// The 32 bytes that stand for these pieces, the borders between them included.
    public static func fingerprint(of pieces: [[UInt8]]) -> [UInt8] {
        of(pieces.flatMap { [Array("\($0.count):".utf8), $0] })
    }

    /// The SHA-256 of all pieces, one behind the other.
    static func of(_ pieces: [[UInt8]]) -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
        for piece in pieces { unsafe EVP_DigestUpdate(context, piece, piece.count) }
        return unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, written in
            unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            written = 32
        }
    }
}
