import COpenSSL

/// A key that was made for one test.
@safe
final class TestKey {
    private let key: OpaquePointer

    /// Makes a key of OpenSSL's type `type`: on a curve, or of a number of bits, where the type has such.
    init(_ type: String, curve: String? = nil, bits: Int32? = nil) {
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe EVP_PKEY_keygen_init(context)
        if let curve { unsafe EVP_PKEY_CTX_set_group_name(context, curve) }
        if let bits { unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) }
        var key: OpaquePointer?
        unsafe EVP_PKEY_generate(context, &key)
        unsafe self.key = key!
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// The private key in PEM.
    var pem: [UInt8] {
        let bio = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(bio) }
        unsafe PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil)
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = unsafe BIO_read(bio, &bytes, Int32(bytes.count))
        return Array(bytes[..<Int(count)])
    }

    /// Whether OpenSSL takes `signature` for one of `message` by this key; a digest belongs to all but Ed25519.
    func verifies(_ signature: [UInt8], of message: [UInt8], digest: OpaquePointer?) -> Bool {
        let context = unsafe EVP_MD_CTX_new()
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return unsafe EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// The numbers r and s of 32 bytes each as the DER that OpenSSL verifies.
    static func der(ofFixedLength signature: [UInt8]) -> [UInt8] {
        let numbers = unsafe ECDSA_SIG_new()
        defer { unsafe ECDSA_SIG_free(numbers) }
        unsafe ECDSA_SIG_set0(
            numbers,
            BN_bin2bn(Array(signature.prefix(32)), 32, nil),
            BN_bin2bn(Array(signature.dropFirst(32)), 32, nil)
        )
        var der = [UInt8](repeating: 0, count: 128)
        let count = unsafe der.withUnsafeMutableBufferPointer { buffer in
            var end = buffer.baseAddress
            return unsafe i2d_ECDSA_SIG(numbers, &end)
        }
        return Array(der[..<Int(count)])
    }
}
