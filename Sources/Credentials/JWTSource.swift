internal import Documents
public import TLS

/// A private key and what is signed by it.
public struct SigningSource: Hashable, Sendable {
    package let key: Secret
    package let algorithm: SigningAlgorithm
    package let keyID: String?

    /// Takes a key, how it signs, and by which name the reader knows it.
    public init(key: Secret, algorithm: SigningAlgorithm, keyID: String?) {
        (self.key, self.algorithm, self.keyID) = (key, algorithm, keyID)
    }
}

/// A token that is signed here.
public struct JWTSource: Hashable, Sendable {
    package let signing: SigningSource
    package let claims: JWTClaims

    /// Takes what is claimed, and the key that signs it.
    public init(signing: SigningSource, claims: JWTClaims) {
        (self.signing, self.claims) = (signing, claims)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(signing)
        // What differs from call to call.
        hasher.combine(claims.subject)
        hasher.combine(JSONValue.object(claims.others).bytes)
    }
}
