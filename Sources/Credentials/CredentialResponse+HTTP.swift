internal import Documents
public import Time

extension CredentialResponse {
    /// The credential in a response over HTTP, which has to have a status of 2xx; that of others tells why there is none.
    ///
    /// - Parameters:
    ///   - status: the status of the response.
    ///   - body: the whole body.
    ///   - now: the wall time at which it was asked for, from which `expires_in` counts.
    /// - Returns: the credential, which has not ended.
    /// - Throws: what is wrong with the response, or what the server says.
    public func credential(
        status: Int,
        body: [UInt8],
        at now: WallTime
    ) throws(CredentialResponseError) -> Credential {
        if 200...299 ~= status { return try credential(in: body, at: now) }
        guard self != .text, let value = try? JSON.parse(body), let rejection = rejection(in: JSONResponse(value))
        else {
            throw .status(status)
        }
        throw rejection
    }

    /// What a server says that gives no credential, in the words of this form.
    ///
    /// Some servers say it with the status 200.
    func rejection(in response: JSONResponse) -> CredentialResponseError? {
        switch self {
        case .text, .json, .aws, .execCredential: nil
        case .oauth2, .exchange:
            response.string("/error").map { .rejected(by: $0) }
        case .tokenRequest where response.string("/kind") == "Status":
            .rejected(by: response.string("/reason") ?? "")
        case .tokenRequest: nil
        }
    }
}
