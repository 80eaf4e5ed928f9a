internal import COpenSSL

/// Reads the text form of certificates and keys (RFC 7468).
enum PEM {
    /// All certificates of a file, in its order; other blocks are passed over.
    static func certificates(in pem: [UInt8]) throws(TLSMaterialError) -> [Certificate] {
        let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
        defer { unsafe BIO_free(bio) }
        var found: [Certificate] = []
        while let raw = unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
            found.append(unsafe Certificate(owning: raw))
        }
        // The end of the file shows as an error, too.
        let error = ErrorQueue.pop()
        guard ErrorQueue.reason(of: error) == PEM_R_NO_START_LINE else {
            throw TLSMaterialError(error) { "the certificate cannot be read (\($0)); write PEM" }
        }
        guard !found.isEmpty else { throw TLSMaterialError("the file contains no certificate; write PEM") }
        return found
    }

    /// The first private key of a file.
    static func key(in pem: [UInt8]) throws(TLSMaterialError) -> PrivateKey {
        let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
        defer { unsafe BIO_free(bio) }
        var isEncrypted = false
        // Without a callback OpenSSL would ask for a passphrase on the terminal, and wait.
        let raw = unsafe PEM_read_bio_PrivateKey(
            bio,
            nil,
            { _, _, _, context in
                unsafe context!.assumingMemoryBound(to: Bool.self).pointee = true
                return -1
            },
            &isEncrypted
        )
        if let raw = unsafe raw { return unsafe PrivateKey(owning: raw) }
        let error = ErrorQueue.pop()
        if isEncrypted { throw TLSMaterialError("the private key is encrypted; store it without a passphrase") }
        let begin = "PRIVATE KEY-----"
        guard ErrorQueue.isOfMemory(error) || String(decoding: pem, as: UTF8.self).contains(begin) else {
            throw TLSMaterialError("the file contains no private key; write PEM")
        }
        throw TLSMaterialError(error) { "the private key cannot be read (\($0)); write PEM" }
    }
}
