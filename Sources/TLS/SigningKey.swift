internal import COpenSSL

/// A private key that signs tokens by one algorithm.
///
/// Any thread may use it.
public struct SigningKey: Sendable {
    /// The algorithm.
    public let algorithm: SigningAlgorithm
    private let key: PrivateKey

    /// Reads the first private key of a file in PEM.
    ///
    /// - Throws: an error if there is no key that can be read, or one that does not fit the algorithm.
    public init(pem: [UInt8], algorithm: SigningAlgorithm) throws(TLSMaterialError) {
        key = try PEM.key(in: pem)
        self.algorithm = algorithm
        defer { ErrorQueue.clear() }
        if let error = key.error(for: algorithm) {
            throw TLSMaterialError(
                "\(error), but \(algorithm.rawValue) requires \(algorithm.fittingKey); create a new key"
            )
        }
    }

    /// The signature of a message as JWS has it: as long as the key for RS256, 64 bytes for the others.
    ///
    /// - Throws: an error if OpenSSL cannot sign, as with a key whose numbers do not belong together.
    public func signature(of message: [UInt8]) throws(TLSMaterialError) -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer {
            unsafe EVP_MD_CTX_free(context)
            ErrorQueue.clear()
        }
        // Ed25519 has its digest within.
        let digest = unsafe algorithm == .edDSA ? nil : EVP_sha256()
        var size = 0
        guard unsafe EVP_DigestSignInit(context, nil, digest, nil, key.raw) == 1,
            unsafe EVP_DigestSign(context, nil, &size, message, message.count) == 1
        else { throw Self.error }
        var signature = [UInt8](repeating: 0, count: size)
        guard unsafe EVP_DigestSign(context, &signature, &size, message, message.count) == 1 else { throw Self.error }
        signature.removeLast(signature.count - size)
        return algorithm == .es256 ? try Self.fixedLength(signature) : signature
    }

    /// The two numbers of an ECDSA signature in DER, each in 32 bytes, one behind the other (RFC 7518 §3.4).
    private static func fixedLength(_ der: [UInt8]) throws(TLSMaterialError) -> [UInt8] {
        let parsed = unsafe der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &position, buffer.count)
        }
        guard let parsed = unsafe parsed else { throw error }
        defer { unsafe ECDSA_SIG_free(parsed) }
        let size: Int32 = 32
        return unsafe [UInt8](unsafeUninitializedCapacity: 2 * Int(size)) { buffer, written in
            unsafe BN_bn2binpad(ECDSA_SIG_get0_r(parsed), buffer.baseAddress, size)
            unsafe BN_bn2binpad(ECDSA_SIG_get0_s(parsed), buffer.baseAddress! + Int(size), size)
            written = buffer.count
        }
    }

    private static var error: TLSMaterialError {
        TLSMaterialError("the private key cannot sign (\(ErrorQueue.text(of: ErrorQueue.pop()))); create a new key")
    }
}

extension PrivateKey {
    /// Why the key cannot sign by an algorithm, if it cannot.
    fileprivate func error(for algorithm: SigningAlgorithm) -> String? {
        let expected =
            switch algorithm {
            case .rs256: "RSA"
            case .es256: "EC"
            case .edDSA: "ED25519"
            }
        guard unsafe EVP_PKEY_is_a(raw, expected) == 1 else {
            let type = unsafe EVP_PKEY_get0_type_name(raw).map { unsafe String(cString: $0) }
            return "the private key has the type \(type ?? "unknown")"
        }
        switch algorithm {
        case .rs256:
            let bits = unsafe Int(EVP_PKEY_get_bits(raw))
            return bits < SigningAlgorithm.minRSAKeyBits ? "the private key has \(bits) bits" : nil
        case .es256:
            return curve == "prime256v1" ? nil : "the private key is on the curve \(curve)"
        case .edDSA:
            return nil
        }
    }

    /// OpenSSL's name for the curve of an EC key.
    private var curve: String {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(raw, &name, name.count, &length) == 1 else { return "unknown" }
        return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
