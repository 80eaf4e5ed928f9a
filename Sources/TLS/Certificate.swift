internal import COpenSSL
private import Glibc

/// An X.509 certificate.
///
/// It is not changed any more, so that any thread may use it.
@safe
final class Certificate: @unchecked Sendable {
    let raw: OpaquePointer

    /// Takes over an `X509`.
    init(owning raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe X509_free(raw)
    }

    /// When the certificate ceases to be good, in seconds since 1970.
    var expires: Int {
        var time = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(X509_get0_notAfter(raw), &time) == 1 else { return 0 }
        return unsafe timegm(&time)
    }

    /// The certificate in DER.
    var der: [UInt8] { unsafe Self.der(of: raw) }

    /// A certificate in DER; empty if memory is short.
    static func der(of raw: OpaquePointer) -> [UInt8] {
        unsafe encoded { unsafe i2d_X509(raw, $0) }
    }

    /// The SHA-256 of the public key with its algorithm (the SubjectPublicKeyInfo of RFC 5280 §4.1, as in RFC 7469).
    static func publicKeyDigest(of raw: OpaquePointer) -> [UInt8] {
        let key = unsafe X509_get_X509_PUBKEY(raw)
        let der = unsafe encoded { unsafe i2d_X509_PUBKEY(key, $0) }
        return der.isEmpty ? [] : TLSDigest.of([der])
    }

    /// What a function of OpenSSL's `i2d` family writes: it tells the size if there is nowhere to write to.
    private static func encoded(
        _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> [UInt8] {
        let count = Int(write(nil))
        guard count > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var end = buffer.baseAddress
            written = unsafe Int(write(&end))
        }
    }
}
