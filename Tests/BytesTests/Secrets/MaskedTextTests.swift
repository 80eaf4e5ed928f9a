import Bytes
import Testing

/// Texts without the credentials in them.
@Suite struct MaskedTextTests {
    static let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"

    private func mayHide(_ text: String) -> Bool { MaskedText.mayHide(Array(text.utf8).span) }

    @Test(arguments: [
        ("/a?token=x1", "/a?token=***"),
        ("GET /a?x=1&token=x1&y=2", "GET /a?x=1&token=***&y=2"),
        ("/a?code=x1#access_token=x2&state=y", "/a?code=***#access_token=***&state=y"),
        ("/a?TOKEN=x1", "/a?TOKEN=***"),
        ("/a?t%6Fken=x1", "/a?t%6Fken=***"),
        ("/a?user[password]=x1", "/a?user[password]=***"),
        ("/a?token=x;y&z=1", "/a?token=***&z=1"),
        ("/a?b=1;token=x1", "/a?b=1;token=***"),
        ("/a?token=a=b==", "/a?token=***"),
        ("/a?token='x\"<y>&b=1", "/a?token=***&b=1"),
        ("/a?token=***", "/a?token=***"),
        ("/a;jsessionid=x1/b", "/a;jsessionid=***"),
        ("https://u:p@h/a", "https://***@h/a"),
        ("https://u@h/a?b=c", "https://***@h/a?b=c"),
        ("//u:p@h/a", "//***@h/a"),
        ("/go/http://u:p@h/a", "/go/http://***@h/a"),
        ("/go?to=https://u:p@h/a", "/go?to=https://***@h/a"),
        ("/go?to=https%3A%2F%2Fu%3Ap%40h%2Fa", "/go?to=***"),
        ("/go?to=https%3A%2F%2Fh%2F%3Faccess_token%3Dx1&b=1", "/go?to=***&b=1"),
        ("/go?to=%2Fa%3Fto%3D%252Fb%253Ftoken%253Dx1", "/go?to=***"),
        ("/go/https%3A%2F%2Fu%3Ap%40h", "/go/***"),
        ("/a?h=Bearer%20x1y2z3", "/a?h=***"),
        ("/a?h=Bearer+x1y2z3", "/a?h=Bearer+***"),
        ("/a?password*=x1", "/a?password*=***"),
        ("/a?b=1&password+=x1&c=2", "/a?b=1&password+=***&c=2"),
        ("/a#user{password}=x1", "/a#user{password}=***"),
        ("/reset/\(jwt)/x", "/reset/***/x"),
        ("/a?j=\(jwt)", "/a?j=***"),
    ])
    func `a URL shows no credential`(_ url: String, _ shown: String) {
        #expect(MaskedText.masked(url, .url) == shown)
        #expect(mayHide(url) || url == shown)
    }

    @Test(arguments: [
        "", "/", "/a.B/C", "GET /v1/orders?page=2&sort=name", "/a?token", "/a?token=", "/a?idempotency-key=1",
        "/a?status_code=5",
        "/users/ann@example.com", "/a?mail=ann@example.com", "/a?b=ann%40example.com", "https://h:8080/a?b=1#c",
        "/a#section",
        "/a?x=%2Fb%3Fc%3Dd", "/a%", "/a?b=%zz", "//", "/a//b@c", "/eyJhbGciOiJIUzI1NiJ9", "/a?token_type=bearer",
        "unix:@name",
        "/basic/authentication", "/tokens/a=b", "/a?token!type=x", "/a?b=1#c d",
    ])
    func `a URL without credentials stays`(_ url: String) {
        #expect(MaskedText.masked(Array(url.utf8), .url) == nil)
    }

    @Test(arguments: [
        ("password=x1", "password=***"),
        ("user=ann&password=x1&remember=on", "user=ann&password=***&remember=on"),
        ("grant_type=client_credentials&client_secret=x1", "grant_type=client_credentials&client_secret=***"),
        ("code=x1&state=s", "code=***&state=s"),
        ("key=x1", "key=***"),
        ("refresh_token=x1&token_type=bearer", "refresh_token=***&token_type=bearer"),
        ("pass%77ord=x1", "pass%77ord=***"),
        ("user[password]=x1&user[name]=ann", "user[password]=***&user[name]=ann"),
        ("assertion=\(jwt)&a=b", "assertion=***&a=b"),
        ("note=\(jwt)", "note=***"),
        ("password=x+1%26y&b=c", "password=***&b=c"),
        ("otp=123456\r\n", "otp=***"),
        ("to=https%3A%2F%2Fu%3Ap%40h", "to=***"),
        ("password=x1#y2&a=b", "password=***&a=b"),
        ("a=b#c&password=x1?y2/z3", "a=b#c&password=***"),
        ("password+=x1", "password+=***"),
        ("a=b&password =x1", "a=b&password =***"),
        ("password!=x1&a=b", "password!=***&a=b"),
        ("user{password}=x1", "user{password}=***"),
        ("+code=x1", "+code=***"),
    ])
    func `a form shows no credential`(_ form: String, _ shown: String) {
        #expect(MaskedText.maskedForm(Array(form.utf8)).map { String(decoding: $0, as: UTF8.self) } == shown)
    }

    @Test(arguments: [
        "", "a=b", "user=ann&page=2", "password=", "password", "mail=ann%40example.com", "token_type=bearer",
    ])
    func `a form without credentials stays`(_ form: String) {
        #expect(MaskedText.maskedForm(Array(form.utf8)) == nil)
    }

    @Test func `a form that is too long is masked as a whole`() {
        #expect(MaskedText.maskedForm([UInt8](repeating: 0x61, count: MaskedText.maxText)) == Array("***".utf8))
    }

    @Test(arguments: [
        ("Bearer x1y2z3", "Bearer ***"),
        ("bearer abcdefabcdefabcdefabcdef", "bearer ***"),
        ("the token Bearer x1y2z3, which expired", "the token Bearer ***, which expired"),
        ("Basic dXNlcjpwYXNz", "Basic ***"),
        ("Basic YTpi==", "Basic ***"),
        ("DPoP x1y2z3_", "DPoP ***"),
        ("Bearer\tx1y2z3", "Bearer\t***"),
        ("upstream auth Bearer x1y2z3", "upstream auth Bearer ***"),
        ("'Bearer x1y2z3'", "'Bearer ***'"),
        ("\"Basic dXNlcjpwYXNz\"", "\"Basic ***\""),
        ("scheme: bearer x1y2z3", "scheme: bearer ***"),
        ("{\"access_token\": \"x\"}", "{\"access_token\": \"***\"}"),
        ("{\"access_token\":\"x\"}", "{\"access_token\":\"***\"}"),
        ("x-api-key: x1", "x-api-key: ***"),
        ("at https://h/a?password*=x1 now", "at https://h/a?password*=*** now"),
        ("invalid \(jwt).", "invalid ***."),
        ("id=\"\(jwt)\"", "id=\"***\""),
        ("see https://u:p@h/a?b=1 there", "see https://***@h/a?b=1 there"),
        ("get \"https://h/a?token=x1\": rejected", "get \"https://h/a?token=***\": rejected"),
        ("<https://h/a?token=x1>; rel=next", "<https://h/a?token=***>; rel=next"),
        ("0; url=https://h/a?code=x1", "0; url=https://h/a?code=***"),
        ("/cb#access_token=x1", "/cb#access_token=***"),
        ("password=x1 is wrong", "password=*** is wrong"),
        ("token=\"x 1\", realm=\"a\"", "token=\"***\", realm=\"a\""),
        ("{\"user\":\"a\",\"password\":\"x\\\"1\"}", "{\"user\":\"a\",\"password\":\"***\"}"),
        ("{\"pin\": 1234}", "{\"pin\": ***}"),
        ("{\"body\":\"{\\\"secret\\\":\\\"x1\\\"}\"}", "{\"body\":\"{\\\"secret\\\":\\\"***\\\"}\"}"),
        ("bad x-api-key: x1, sorry", "bad x-api-key: ***, sorry"),
        ("got authorization: Custom x1 y2", "got authorization: ***"),
        ("cookie: a=1; b=2\nhost: h", "cookie: ***\nhost: h"),
        ("AWS4-HMAC-SHA256 Credential=a/b, Signature=0f", "AWS4-HMAC-SHA256 Credential=***, Signature=***"),
        ("Bearer \(String(repeating: "a=b", count: 100)) c", "Bearer *** c"),
        ("Bearer \(String(repeating: "a", count: 300))/bearer x1y2z3 c", "Bearer *** *** c"),
    ])
    func `a text shows no credential`(_ text: String, _ shown: String) {
        #expect(MaskedText.masked(text) == shown)
        #expect(mayHide(text))
    }

    @Test(arguments: [
        "", "not found", "invalid token: expired", "Bearer token is missing", "Bearer authentication required",
        "Bearer realm=\"example\", error=\"invalid_token\"", "Basic realm=\"a\"", "basic auth",
        "rpc error: code = NotFound desc = x",
        "error code=5", "key=7 is unknown", "unknown key: foo", "a=b", "text/html; charset=utf-8", "W/\"abc\"",
        "max-age=60, must-revalidate", "ann@example.com", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "gzip, deflate, br", "Mozilla/5.0 (X11; Linux x86_64)", "authorization, x-api-key",
        "{\"token_type\":\"bearer\"}",
        "connection refused (127.0.0.1:80)", "eyJ", "upstream orders: timeout",
    ])
    func `a text without credentials stays`(_ text: String) {
        #expect(MaskedText.masked(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        ("unknown key abc123", "unknown key ***"), ("abc123abc123", "***"), ("xabc123y", "x***y"), ("abc12", "abc12"),
        ("id 12", "id 12"), ("token=abc123 abc123", "token=*** ***"),
    ])
    func `a known value is masked wherever a text has it, unless it is short`(_ text: String, _ shown: String) {
        let secrets = KnownSecrets([Array("abc123".utf8), Array("12".utf8)])
        #expect(MaskedText.masked(text, secrets: secrets) == shown)
    }

    @Test(arguments: [
        ("abc123", "***"), ("xabc123y", "x***y"), ("the pin 4321 is wrong", "the pin *** is wrong"), ("4321", "***"),
        ("\"4321\"", "\"***\""), ("54321", "54321"), ("43210", "43210"), ("id 12", "id 12"),
        ("at /a%62c123/b", "at /***/b"), ("?q=%34321&p=1", "?q=***&p=1"),
    ])
    func `a value that the configuration names is masked as a word, too`(_ text: String, _ shown: String) {
        var secrets = KnownSecrets()
        for value in ["abc123", "4321", "12"] { secrets.insert(named: Array(value.utf8)) }
        #expect(MaskedText.masked(text, secrets: secrets) == shown)
    }

    /// Texts for which a scan of the whole rest after each name would take minutes.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (String(repeating: "bearer+", count: 9000), "bearer+***"),
            (String(repeating: "bearer+a=b", count: 6000), "bearer+***"),
            (String(repeating: "bearer+", count: 9000) + "=x", "bearer+***"),
            (String(repeating: "basic ", count: 10_000), String(repeating: "basic ", count: 10_000)),
            (String(repeating: "dpop+", count: 12_000), "dpop+***"),
            (String(repeating: "a+", count: 30_000) + "=x", String(repeating: "a+", count: 30_000) + "=x"),
        ]
    )
    func `a text of names of schemes takes time in proportion to its length`(_ text: String, _ shown: String) {
        for _ in 0..<10 { #expect(MaskedText.masked(text) == shown) }
    }

    @Test(arguments: [
        (1, 6, true), (KnownSecrets.maxCount, 6, true), (KnownSecrets.maxCount + 1, 6, false), (100_000, 6, false),
        (1, KnownSecrets.maxBytes, true), (1, KnownSecrets.maxBytes + 1, false), (16, 1024, true), (17, 1024, false),
    ])
    func `callers add a limited number of values`(_ count: Int, _ length: Int, _ isComplete: Bool) {
        let values = (0..<count).map { index in
            Array("\(100_000 + index)".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: length - 6)
        }
        var union = KnownSecrets(configured: values)
        #expect(union.isComplete)
        union.formUnion(values + values)
        #expect(union.isComplete)
        #expect(KnownSecrets(values + values).isComplete == isComplete)
        union = KnownSecrets([Array("abc123".utf8)])
        union.formUnion(KnownSecrets(values))
        let hasRoom = count < KnownSecrets.maxCount && count * length < KnownSecrets.maxBytes
        #expect(union.isComplete == hasRoom)
        #expect(MaskedText.masked("abc123", secrets: union) == "***")
    }

    @Test func `a text that is too long to look into is masked as a whole`() {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: MaskedText.maxText)
        #expect(MaskedText.masked(text) == nil)
        #expect(MaskedText.masked(text + text) == Array("***".utf8))
        let short = String(decoding: text, as: UTF8.self)
        #expect(!mayHide(short))
        #expect(mayHide(short + short))
    }

    @Test func `a parameter that is not shown is masked by its name`() {
        let target = Array("/a.B/C?connect=v1&message=%7B%7D&encoding=json".utf8)
        let shown = MaskedText.masked(target, .url, parameter: "message")
        #expect(shown.map { String(decoding: $0, as: UTF8.self) } == "/a.B/C?connect=v1&message=***&encoding=json")
    }

    @Test func `what needs no look is not masked`() {
        for text in [
            "", "/a.B/C", "curl/8.5", "text/html", "J", "yJ", "/Jobs/yJ/GetJSON", "gzip, deflate", "h:8080", "/basic",
        ] {
            #expect(!mayHide(text), "\(text)")
            #expect(MaskedText.masked(Array(text.utf8), .url) == nil)
        }
        for text in ["?token=x", "http://u:p@h", Self.jwt, "/J/yJ/eyJ0", "%3Ftoken%3Dx", "Bearer x1y2z3"] {
            #expect(mayHide(text), "\(text)")
        }
    }
}
