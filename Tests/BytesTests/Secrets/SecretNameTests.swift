import Bytes
import Testing

/// The names of credentials.
@Suite struct SecretNameTests {
    private func matches(_ name: String, isParameter: Bool = true) -> Bool {
        SecretName.matches(Array(name.utf8).span, isParameter: isParameter)
    }

    @Test(arguments: [
        "authorization", "Proxy-Authorization", "x-original-authorization", "cookie", "set-cookie",
        "trailer-set-cookie",
        "x-api-key", "api_key", "apiKey", "API.KEY", "apikey", "x-goog-api-key", "x-auth-token", "x-auth",
        "x-amz-security-token",
        "x-vault-token", "private-token", "x-csrf-token", "x-xsrf", "x-hub-signature-256", "stripe-signature",
        "mcp-session-id",
        "x-session", "JSESSIONID", "PHPSESSID", "ocp-apim-subscription-key", "x-functions-key", "x-ms-account-key",
        "dpop",
        "x-amz-server-side-encryption-customer-key", "cf-access-jwt-assertion", "access_token", "id_token_hint",
        "client_secret",
        "clientSecret", "client_assertion", "X-Amz-Signature", "X-Amz-Credential", "AWSAccessKeyId", "user[password]",
        "passwd",
        "passphrase", "new-pin", "otp", "sid", "sig", "code", "key", "pass", "auth_code", "device_code",
        "code_verifier",
        "SAMLResponse", "x-token-bin", "password_reset", "token-limit-secret",
    ])
    func `a credential has a name in the table`(_ name: String) {
        #expect(matches(name))
    }

    @Test(arguments: [
        "", "-", "host", "accept", "user-agent", "content-type", "idempotency-key", "cache-key", "sec-websocket-key",
        "www-authenticate", "proxy-authenticate", "authority", ":authority", "author", "x-author-name", "etag",
        "access-control-allow-credentials", "access-control-request-headers", "token_type", "token-endpoint",
        "token_url",
        "signature_method", "session-count", "x-ratelimit-remaining-tokens", "max_tokens", "x-ratelimit-limit-tokens",
        "grpc-status", "grpc-message", "traceparent", "status_code", "error-code", "zipcode", "keyword", "monkey",
        "pinned",
        "design", "inside", "x-request-id", "passive", "bypass",
    ])
    func `another name is not in the table`(_ name: String) {
        #expect(!matches(name))
    }

    @Test func `a word such as code is a credential only as a parameter`() {
        for name in ["code", "key", "pass"] {
            #expect(!matches(name, isParameter: false), "\(name)")
        }
    }
}
