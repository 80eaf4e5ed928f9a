import COpenSSL

/// An authority that signs whatever a test asks for.
@safe
final class TestAuthority {
    /// A certificate and its key, in PEM.
    struct Issued {
        let certificate: [UInt8]
        let key: [UInt8]
        /// The text of its pin.
        let pin: String
    }

    private let key: OpaquePointer
    private let name: String
    private var serial = 1
    /// The authority's own certificate, in PEM.
    private(set) var certificate: [UInt8] = []

    init(_ name: String = "Test Authority") {
        self.name = name
        unsafe key = Self.makeKey()
        certificate = issue(name, extensions: [(NID_basic_constraints, "critical,CA:TRUE")]).certificate
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// Signs a server's certificate for names such as `DNS:a.example` or `IP:127.0.0.1`.
    func issue(_ names: String, days: Int = 30, key: [UInt8]? = nil) -> Issued {
        issue("leaf", days: days, extensions: [(NID_subject_alt_name, names)], key: key)
    }

    private func issue(
        _ subject: String,
        days: Int = 30,
        extensions: [(id: Int32, value: String)],
        key given: [UInt8]? = nil
    ) -> Issued {
        let isOwn = subject == name
        let subjectKey = unsafe isOwn ? key : given.map { unsafe Self.readKey($0) } ?? Self.makeKey()
        defer { if !isOwn { unsafe EVP_PKEY_free(subjectKey) } }
        let certificate = unsafe X509_new()!
        defer { unsafe X509_free(certificate) }
        unsafe X509_set_version(certificate, 2)
        unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial)
        serial += 1
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), days < 0 ? -200 * 86400 : -3600)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86400)
        unsafe X509_set_pubkey(certificate, subjectKey)
        unsafe Self.setName(X509_get_subject_name(certificate), subject)
        unsafe Self.setName(X509_get_issuer_name(certificate), name)
        for (id, value) in extensions {
            let made = unsafe X509V3_EXT_conf_nid(nil, nil, id, value)
            unsafe X509_add_ext(certificate, made, -1)
            unsafe X509_EXTENSION_free(made)
        }
        unsafe X509_sign(certificate, key, nil)
        return Issued(
            certificate: unsafe Self.text { unsafe PEM_write_bio_X509($0, certificate) },
            key: unsafe Self.text { unsafe PEM_write_bio_PrivateKey($0, subjectKey, nil, nil, 0, nil, nil) },
            pin: unsafe Self.pin(certificate)
        )
    }

    private static func makeKey() -> OpaquePointer {
        let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe EVP_PKEY_keygen_init(context)
        var key: OpaquePointer?
        unsafe EVP_PKEY_keygen(context, &key)
        return unsafe key!
    }

    private static func readKey(_ pem: [UInt8]) -> OpaquePointer {
        let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
        defer { unsafe BIO_free(bio) }
        return unsafe PEM_read_bio_PrivateKey(bio, nil, nil, nil)!
    }

    private static func setName(_ name: OpaquePointer?, _ text: String) {
        unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0)
    }

    private static func pin(_ certificate: OpaquePointer) -> String {
        var der = [UInt8](repeating: 0, count: 1024)
        let count = unsafe der.withUnsafeMutableBufferPointer { buffer in
            var end = buffer.baseAddress
            return unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &end)
        }
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe SHA256(der, Int(count), &digest)
        var base64 = [UInt8](repeating: 0, count: 45)
        let length = unsafe EVP_EncodeBlock(&base64, digest, 32)
        return "sha256/" + String(decoding: base64[..<Int(length)], as: UTF8.self)
    }

    private static func text(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(bio) }
        _ = unsafe write(bio)
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = unsafe BIO_read(bio, &bytes, Int32(bytes.count))
        return Array(bytes[..<Int(count)])
    }
}
