import Documents
import Events
import Testing
import Time

@testable import Credentials

/// What is read from the responses of programs and servers.
@Suite struct CredentialResponseTests {
    private static let now = WallTime(secondsSince1970: 1_700_000_000)
    /// A token without a signature that ends at 1 800 000 000.
    private static let jwt = "eyJhbGciOiJub25lIn0.eyJleHAiOjE4MDAwMDAwMDB9."

    private func read(_ form: CredentialResponse, _ text: String) -> Result<Credential, CredentialResponseError> {
        Result { () throws(CredentialResponseError) in try form.credential(in: Array(text.utf8), at: Self.now) }
    }

    private func read(_ form: CredentialResponse, status: Int, _ text: String) -> Result<
        Credential, CredentialResponseError
    > {
        Result { () throws(CredentialResponseError) in
            try form.credential(status: status, body: Array(text.utf8), at: Self.now)
        }
    }

    private func good(_ value: String, seconds: Int?) -> Result<Credential, CredentialResponseError> {
        .success(Credential(value: Array(value.utf8), expiry: seconds.map { WallTime(secondsSince1970: $0) }))
    }

    // MARK: Text

    @Test func `text is taken without the white space at its ends`() {
        #expect(read(.text, " abc\r\n") == good("abc", seconds: nil))
        #expect(read(.text, Self.jwt + "\n") == good(Self.jwt, seconds: 1_800_000_000))
        #expect(read(.text, "\n") == .failure(.notForHeaders(nil)))
        #expect(read(.text, "a\nb") == .failure(.notForHeaders(nil)))
        #expect(read(.text, String(repeating: "a", count: TokenText.limit + 1)) == .failure(.notForHeaders(nil)))
    }

    @Test func `a JWT that has ended is rejected`() {
        #expect(read(.text, "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.") == .failure(.expired))
    }

    // MARK: OAuth 2.0

    @Test(
        arguments: [
            (#"{"access_token":"abc","token_type":"Bearer","expires_in":3600}"#, "abc", 1_700_003_600),
            (#"{"access_token":"abc","token_type":"bearer","expires_in":"3600","scope":"x"}"#, "abc", 1_700_003_600),
            (#"{"access_token":"abc","token_type":"bearer","expires_in":60.0}"#, "abc", 1_700_000_060),
            (#"{"access_token":"abc","expires_in":null}"#, "abc", nil),
            (#"{"access_token":"\#(jwt)","token_type":"Bearer"}"#, jwt, 1_800_000_000),
            (#"{"access_token":"\#(jwt)","token_type":"Bearer","expires_in":60}"#, jwt, 1_700_000_060),
        ] as [(String, String, Int?)]
    )
    func `a token response is read`(text: String, value: String, seconds: Int?) {
        #expect(read(.oauth2, text) == good(value, seconds: seconds))
        #expect(read(.oauth2, status: 200, text) == good(value, seconds: seconds))
    }

    @Test(arguments: [
        (#"{"token_type":"Bearer"}"#, CredentialResponseError.missing("/access_token")),
        (#"[]"#, .missing("/access_token")),
        (#"{"access_token":7}"#, .invalid("/access_token", expected: "a string")),
        (#"{"access_token":"a\r\nb"}"#, .notForHeaders("/access_token")),
        (#"{"access_token":""}"#, .notForHeaders("/access_token")),
        (#"{"access_token":"a","token_type":"mac"}"#, .invalid("/token_type", expected: "Bearer")),
        (#"{"access_token":"a","token_type":"N_A"}"#, .invalid("/token_type", expected: "Bearer")),
        (#"{"access_token":"a","token_type":7}"#, .invalid("/token_type", expected: "Bearer")),
        (#"{"access_token":"a","expires_in":"soon"}"#, .invalid("/expires_in", expected: "a number of seconds")),
        (#"{"access_token":"a","expires_in":true}"#, .invalid("/expires_in", expected: "a number of seconds")),
        (#"{"access_token":"a","expires_in":0}"#, .expired), (#"{"access_token":"a","expires_in":-5}"#, .expired),
        (#"{"error":"bad_verification_code"}"#, .rejected("bad_verification_code")),
    ])
    func `a token response that is none is rejected`(text: String, fault: CredentialResponseError) {
        #expect(read(.oauth2, text) == .failure(fault))
    }

    @Test func `of an error of a token endpoint only its name is reported`() {
        #expect(
            read(.oauth2, status: 400, #"{"error":"invalid_grant","error_description":"no\r\nmore"}"#)
                == .failure(.rejected("invalid_grant"))
        )
        #expect(
            read(.oauth2, status: 401, #"{"error":"invalid_client"}"#)
                == .failure(.rejected("invalid_client"))
        )
        let long = String(repeating: "ü", count: 10_000)
        #expect(read(.oauth2, status: 400, #"{"error":"\#(long)"}"#) == .failure(.rejected(nil)))
        #expect(read(.oauth2, status: 400, #"{"error":"no, Bearer abc"}"#) == .failure(.rejected(nil)))
    }

    @Test(arguments: ["", "<html>", "{}", #"{"error":7}"#, "[]"])
    func `an error that says nothing is reported by its status`(text: String) {
        #expect(read(.oauth2, status: 503, text) == .failure(.status(503)))
        #expect(read(.text, status: 503, text) == .failure(.status(503)))
    }

    @Test func `a response with another status is no credential`() {
        #expect(read(.oauth2, status: 302, #"{"access_token":"a"}"#) == .failure(.status(302)))
        #expect(read(.text, status: 404, "abc") == .failure(.status(404)))
        #expect(read(.text, status: 201, "abc") == good("abc", seconds: nil))
    }

    @Test func `what is not valid JSON is reported with its place, and not quoted`() {
        guard case .failure(let fault) = read(.oauth2, #"{"access_token":"hush"#) else {
            Issue.record("it is taken")
            return
        }
        #expect(fault.text.hasPrefix("the response is not valid JSON: "))
        #expect(!fault.text.contains("hush"))
    }

    // MARK: Token exchange

    @Test func `an exchange gives the type that was asked for`() {
        let type = "urn:ietf:params:oauth:token-type:jwt"
        let response = #"{"access_token":"a","issued_token_type":"\#(type)","token_type":"N_A","expires_in":60}"#
        #expect(read(.exchange(requested: type), response) == good("a", seconds: 1_700_000_060))
        #expect(read(.exchange(requested: nil), response) == good("a", seconds: 1_700_000_060))
        let other = "urn:ietf:params:oauth:token-type:access_token"
        #expect(
            read(.exchange(requested: other), response) == .failure(.invalid("/issued_token_type", expected: other))
        )
        #expect(
            read(.exchange(requested: nil), #"{"access_token":"a","token_type":"mac"}"#)
                == .failure(.invalid("/token_type", expected: "Bearer or N_A"))
        )
        #expect(
            read(.exchange(requested: nil), status: 400, #"{"error":"invalid_target"}"#)
                == .failure(.rejected("invalid_target"))
        )
    }

    // MARK: Kubernetes

    @Test(arguments: ["v1", "v1beta1"])
    func `an ExecCredential is read`(version: String) {
        let head = #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/\#(version)","#
        #expect(
            read(.execCredential, head + #""status":{"token":"a","expirationTimestamp":"2023-11-14T22:14:20Z"}}"#)
                == good("a", seconds: 1_700_000_060)
        )
        #expect(read(.execCredential, head + #""status":{"token":"a"}}"#) == good("a", seconds: nil))
        #expect(
            read(.execCredential, head + #""status":{"token":"a","expirationTimestamp":null}}"#)
                == good("a", seconds: nil)
        )
        #expect(
            read(.execCredential, head + #""status":{"clientCertificateData":"x"}}"#)
                == .failure(.missing("/status/token"))
        )
        #expect(
            read(.execCredential, head + #""status":{"token":"a","expirationTimestamp":"tomorrow"}}"#)
                == .failure(
                    .invalid(
                        "/status/expirationTimestamp",
                        expected: "an RFC 3339 time or seconds since 1970"
                    )
                )
        )
        #expect(
            read(.execCredential, head + #""status":{"token":"a","expirationTimestamp":"2023-11-14T22:13:20Z"}}"#)
                == .failure(.expired)
        )
    }

    @Test(arguments: [
        (
            #"{"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"a"}}"#,
            CredentialResponseError.missing("/kind")
        ),
        (#"{"kind":"Pod","status":{"token":"a"}}"#, .invalid("/kind", expected: "ExecCredential")),
        (#"{"kind":"ExecCredential","status":{"token":"a"}}"#, .missing("/apiVersion")),
        (
            #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1alpha1","status":{"token":"a"}}"#,
            .invalid(
                "/apiVersion",
                expected: "client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"
            )
        ),
    ])
    func `another object is no ExecCredential`(text: String, fault: CredentialResponseError) {
        #expect(read(.execCredential, text) == .failure(fault))
    }

    @Test func `a TokenRequest is read, and so is its rejection`() {
        let head = #"{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","#
        let good = head + #""status":{"token":"a","expirationTimestamp":"2023-11-14T23:13:20+01:00"}}"#
        #expect(read(.tokenRequest, status: 201, good) == .failure(.expired))
        let later = head + #""status":{"token":"a","expirationTimestamp":"2023-11-14T23:14:20+01:00"}}"#
        #expect(read(.tokenRequest, status: 201, later) == self.good("a", seconds: 1_700_000_060))
        #expect(read(.tokenRequest, head + #""status":{}}"#) == .failure(.missing("/status/token")))
        #expect(
            read(.tokenRequest, #"{"kind":"ExecCredential"}"#)
                == .failure(.invalid("/kind", expected: "TokenRequest"))
        )
        let rejection = #"{"kind":"Status","apiVersion":"v1","message":"not allowed","reason":"Forbidden","code":403}"#
        #expect(
            read(.tokenRequest, status: 403, rejection)
                == .failure(.rejected("Forbidden"))
        )
        #expect(read(.tokenRequest, status: 500, "oops") == .failure(.status(500)))
    }

    // MARK: AWS

    @Test func `the output of a credential process is read`() {
        let output = #"{"Version":1,"AccessKeyId":"id","SecretAccessKey":"s","SessionToken":"t","#
        let form = CredentialResponse.aws(value: CredentialResponse.sessionToken)
        #expect(read(form, output + #""Expiration":"2023-11-14T22:14:20Z"}"#) == good("t", seconds: 1_700_000_060))
        #expect(
            read(.aws(value: JSONPointer("/AccessKeyId")!), output + #""Expiration":null}"#) == good("id", seconds: nil)
        )
        #expect(read(form, #"{"SessionToken":"t"}"#) == .failure(.missing("/Version")))
        #expect(read(form, #"{"Version":2,"SessionToken":"t"}"#) == .failure(.invalid("/Version", expected: "1")))
        #expect(read(form, #"{"Version":1,"AccessKeyId":"id"}"#) == .failure(.missing("/SessionToken")))
    }

    // MARK: JSON

    private static let places = CredentialFields(
        value: JSONPointer("/data/0/token")!,
        expiresIn: JSONPointer("/in")!,
        expiresAt: JSONPointer("/at")!
    )

    @Test(
        arguments: [
            ("", nil), (#","in":60"#, 1_700_000_060), (#","in":"60""#, 1_700_000_060),
            (#","at":1700000061"#, 1_700_000_061),
            (#","at":"1700000061""#, 1_700_000_061), (#","at":"2023-11-14T22:14:21Z""#, 1_700_000_061),
            (#","in":60,"at":1700000061"#, 1_700_000_060), (#","in":62,"at":1700000061"#, 1_700_000_061),
        ] as [(String, Int?)]
    )
    func `JSON is read by pointers`(rest: String, seconds: Int?) {
        #expect(read(.json(Self.places), #"{"data":[{"token":"a"}]\#(rest)}"#) == good("a", seconds: seconds))
    }

    @Test func `the end is that of a JWT if nothing else reports`() {
        #expect(
            read(.json(Self.places), #"{"data":[{"token":"\#(Self.jwt)"}]}"#) == good(Self.jwt, seconds: 1_800_000_000)
        )
        let whole = CredentialResponse.json(CredentialFields(value: JSONPointer("")!))
        #expect(read(whole, #""abc""#) == good("abc", seconds: nil))
        #expect(read(whole, "{}") == .failure(.invalid("its root", expected: "a string")))
    }

    @Test(arguments: [
        (#"{"data":[]}"#, CredentialResponseError.missing("/data/0/token")),
        (#"{"data":[{"token":null}]}"#, .missing("/data/0/token")),
        (#"{"data":[{"token":"a"}],"in":[]}"#, .invalid("/in", expected: "a number of seconds")),
        // Milliseconds, by mistake.
        (
            #"{"data":[{"token":"a"}],"at":1700000061000}"#,
            .invalid("/at", expected: "an RFC 3339 time or seconds since 1970")
        ),
        (#"{"data":[{"token":"a"}],"at":1699999999}"#, .expired),
    ])
    func `JSON without what it is to have is rejected`(text: String, fault: CredentialResponseError) {
        #expect(read(.json(Self.places), text) == .failure(fault))
    }

    @Test func `a pointer is reported as it is written`() {
        let form = CredentialResponse.json(CredentialFields(value: JSONPointer("/a~1b/m~0n")!))
        #expect(read(form, "{}") == .failure(.missing("/a~1b/m~0n")))
    }

    // MARK: Secrecy

    @Test func `a credential does not show its value`() {
        let credential = Credential(value: Array("hush".utf8), expiry: .epoch)
        #expect("\(credential)" == "a credential of 4 bytes")
        var dumped = ""
        dump(credential, to: &dumped)
        #expect(!dumped.contains("hush") && !dumped.contains("104"))
        #expect(!String(reflecting: credential).contains("104"))
    }

    @Test func `no fault shows a value`() {
        let responses = [
            #"{"access_token":"hu\u0000sh"}"#, #"{"access_token":["hush"]}"#,
            #"{"access_token":"hush","expires_in":"hush"}"#,
            #"{"access_token":"x","token_type":"hush"}"#, #"{"access_token":"hush",}"#,
            #"{"access_token":"hush","expires_in":0}"#,
        ]
        for response in responses {
            guard case .failure(let fault) = read(.oauth2, response) else {
                Issue.record("it is taken")
                continue
            }
            #expect(!fault.text.contains("hu"))
            #expect(!"\(fault)".contains("hu"))
        }
    }
}
