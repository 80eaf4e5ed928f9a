internal import Bytes
public import Documents
public import Time

/// A form in which programs and servers give credentials.
///
/// Pure: bytes go in, and a credential comes out. Where the response does not tell when the credential ends, and it is a
/// JWT, that tells.
public enum CredentialResponse: Equatable, Sendable {
    /// The value alone, with white space at its ends.
    case text
    /// JSON that has everything in places of its own.
    case json(CredentialFields)
    /// A token response of OAuth 2.0 (RFC 6749 §5.1).
    case oauth2
    /// The response of a token exchange (RFC 8693 §2.2.1), and the `requested_token_type`, if one was.
    case exchange(requested: String?)
    /// What a credential plugin of Kubernetes writes: an ExecCredential of `client.authentication.k8s.io/v1` or `v1beta1`.
    case execCredential
    /// A TokenRequest of `authentication.k8s.io/v1` with its status.
    case tokenRequest
    /// What a `credential_process` of AWS writes, version 1, and which member is the value.
    case aws(value: JSONPointer)

    /// The member of a response for AWS that is the value, if nobody says another.
    public static let sessionToken = JSONPointer("/SessionToken")!

    /// The credential in a response.
    ///
    /// - Parameters:
    ///   - bytes: the whole response.
    ///   - now: the wall time at which it was asked for, from which `expires_in` counts.
    /// - Returns: the credential, which has not ended.
    /// - Throws: what is wrong with the response, or what the server says.
    public func credential(in bytes: [UInt8], at now: WallTime) throws(CredentialResponseError) -> Credential {
        guard self != .text else {
            guard let value = TokenText.token(in: bytes) else { throw .notForHeaders(nil) }
            return try Self.credential(value, until: nil, at: now)
        }
        let response: JSONResponse
        do throws(JSONError) {
            response = JSONResponse(try JSON.parse(bytes))
        } catch {
            throw CredentialResponseError(error)
        }
        if let rejection = rejection(in: response) { throw rejection }
        try check(response)
        let fields = fields
        let value = try response.header(fields.value)
        let ends = try [
            response.lifetime(fields.expiresIn).map { now.adding(saturating: $0) }, response.time(fields.expiresAt),
        ]
        return try Self.credential(value, until: ends.compactMap { $0 }.min(), at: now)
    }

    /// Returns the credential for a fetched value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - reported: The time until which it is valid, as the response says; without it, the claim `exp` of a JWT counts.
    ///   - now: The time of day.
    /// - Returns: The credential.
    /// - Throws: `.expired` if it is not valid any more.
    package static func credential(
        _ value: [UInt8],
        until reported: WallTime?,
        at now: WallTime
    ) throws(CredentialResponseError) -> Credential {
        let expiry = reported ?? JWT.expiry(of: value)
        if let expiry, expiry <= now { throw .expired }
        return Credential(value: value, expiry: expiry)
    }

    /// Where the response has what.
    private var fields: CredentialFields {
        switch self {
        case .text: CredentialFields(value: JSONPointer("")!)
        case .json(let fields): fields
        case .oauth2, .exchange:
            CredentialFields(value: JSONPointer("/access_token")!, expiresIn: JSONPointer("/expires_in")!)
        case .execCredential, .tokenRequest:
            CredentialFields(
                value: JSONPointer("/status/token")!,
                expiresAt: JSONPointer("/status/expirationTimestamp")!
            )
        case .aws(let value): CredentialFields(value: value, expiresAt: JSONPointer("/Expiration")!)
        }
    }

    /// Looks whether the response is of this form, beyond its places.
    private func check(_ response: JSONResponse) throws(CredentialResponseError) {
        switch self {
        case .text, .json: break
        case .oauth2: try response.expect("/token_type", "Bearer", or: nil, ignoringCase: true)
        case .exchange(let requested):
            // `N_A` is what is no access token has (RFC 8693 §2.2.1).
            try response.expect("/token_type", "Bearer", or: "N_A", ignoringCase: true)
            if let requested { try response.expect("/issued_token_type", requested) }
        case .execCredential:
            try response.require("/kind", "ExecCredential")
            let group = "client.authentication.k8s.io"
            try response.require("/apiVersion", "\(group)/v1", or: "\(group)/v1beta1")
        case .tokenRequest:
            try response.require("/kind", "TokenRequest")
            try response.require("/apiVersion", "authentication.k8s.io/v1")
        case .aws: try response.require(version: 1, at: "/Version")
        }
    }
}
