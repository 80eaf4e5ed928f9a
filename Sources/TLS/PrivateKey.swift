internal import COpenSSL

/// A private key.
///
/// It is not changed any more, so that any thread may use it.
@safe
final class PrivateKey: @unchecked Sendable {
    let raw: OpaquePointer

    /// Takes over an `EVP_PKEY`.
    init(owning raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe EVP_PKEY_free(raw)
    }
}
