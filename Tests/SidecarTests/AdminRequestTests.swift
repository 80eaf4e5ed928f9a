import HTTP
import Testing

@testable import Sidecar

/// Which requests the admin pages reject because a web page may be behind them.
@Suite struct AdminRequestTests {
    private static let loopback = "127.0.0.1:9901"

    private static func request(
        _ method: String = "GET",
        host: String = loopback,
        _ fields: [(String, String)] = [],
        to access: AdminAccess = .loopback
    ) -> AdminRequest {
        let head = HTTPHead()
        head.setMethod(Array(method.utf8).span)
        head.setAuthority(Array(host.utf8).span)
        for (name, value) in fields { head.add(FieldName(name), Array(value.utf8).span) }
        return AdminRequest(head, to: access)
    }

    @Test(arguments: [
        "localhost", "localhost:9901", "127.0.0.1", "127.0.0.1:9901", "127.1.2.3:1", "[::1]", "[::1]:9901",
    ])
    func `a request that names this machine is not from a web page`(_ host: String) {
        #expect(Self.request(host: host).originError == nil)
    }

    @Test(arguments: [
        "evil.example", "evil.example:9901", "10.0.0.1:9901", "[::2]:9901", "[::1]evil.example:80", "[::1", "::1",
        "localhost.evil.example", "127.0.0.1.evil.example:80", "127.0.0.1]", "localhost:evil", "",
    ])
    func `a request that names another host may be from a web page, if the host counts`(_ host: String) {
        #expect(Self.request(host: host).originError != nil)
        #expect(Self.request(host: host, to: .unix).originError == nil)
        #expect(Self.request(host: host, to: .remote).originError == nil)
    }

    /// What a browser sends, and whether a request with it may read, and whether it may change something.
    private static let browsers: [(fields: [(String, String)], mayRead: Bool, mayChange: Bool)] = [
        ([], true, true),
        ([("sec-fetch-site", "same-origin")], true, true),
        ([("sec-fetch-site", "same-origin"), ("origin", "http://\(loopback)")], true, true),
        ([("origin", "http://\(loopback)")], true, true),
        ([("sec-fetch-site", "none")], true, false),
        ([("sec-fetch-site", "same-origin"), ("origin", "http://localhost:9901")], false, false),
        ([("sec-fetch-site", "same-origin"), ("origin", "https://\(loopback)")], false, false),
        ([("sec-fetch-site", "same-origin"), ("origin", "null")], false, false),
        ([("sec-fetch-site", "same-site")], false, false),
        ([("sec-fetch-site", "same-site"), ("origin", "http://\(loopback)")], false, false),
        ([("sec-fetch-site", "cross-site")], false, false),
        ([("sec-fetch-site", "Same-Origin")], false, false),
        ([("sec-fetch-site", "same-origin, cross-site")], false, false),
        ([("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false, false),
        ([("sec-fetch-site", "")], false, false),
        ([("origin", "http://127.0.0.1")], false, false),
        ([("origin", "http://127.0.0.1:9902")], false, false),
        ([("origin", "http://evil.example")], false, false),
        ([("origin", "http://\(loopback)"), ("origin", "http://evil.example")], false, false),
        ([("origin", "")], false, false),
    ]

    @Test(arguments: browsers.indices)
    func `a browser may use the dashboard's own pages, and type their address`(_ index: Int) {
        let (fields, mayRead, mayChange) = Self.browsers[index]
        for access in [AdminAccess.loopback, .unix] {
            for method in ["GET", "HEAD"] {
                #expect((Self.request(method, fields, to: access).originError == nil) == mayRead)
            }
            for method in ["POST", "DELETE"] {
                #expect((Self.request(method, fields, to: access).originError == nil) == mayChange)
            }
        }
        #expect((Self.request("GET", fields, to: .remote).originError == nil) == fields.isEmpty)
    }

    @Test func `no name of another host makes a page one of ours`() {
        let fields = [("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")]
        for access in [AdminAccess.loopback, .unix, .remote] {
            #expect(Self.request(host: "evil.example", fields, to: access).originError != nil)
        }
    }

    @Test(arguments: [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true), ("*/*", false), ("", false),
        ("text/plain, TEXT/HTML; q=0.5", true), ("text/html;q=0", false), ("text/htmlx", false),
    ])
    func `a browser is known by what it accepts`(_ accept: String, isHTML: Bool) {
        #expect(Self.request("GET", [("accept", accept)]).acceptsHTML == isHTML)
    }
}
