import Bytes
import Policy
import PublicSuffixes
import Testing
import Time

/// What a jar keeps and sends (RFC 6265 §5.2 to §5.4).
@Suite struct CookieJarTests {
    private static let now = WallTime(secondsSince1970: 784_111_777)

    private static func origin(_ url: String) -> CookieJar.Origin {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        return CookieJar.Origin(
            host: Array(parts[2].utf8),
            path: Array("/\(parts.count > 3 ? parts[3] : "")".utf8),
            isSecure: parts[0] == "https:"
        )
    }

    /// What a jar sends to one URL that has been told all this by another.
    private func sent(_ fields: [String], _ from: String, to: String? = nil, after seconds: Int = 0) -> String {
        var jar = CookieJar()
        for field in fields { jar.store(field, from: Self.origin(from), at: Self.now) }
        return sent(by: &jar, to ?? from, at: Self.now + seconds * .second)
    }

    private func sent(by jar: inout CookieJar, _ url: String, at now: WallTime = now) -> String {
        let queue = ByteQueue()
        jar.select(for: Self.origin(url), at: now).append(to: queue)
        return queue.readable.string
    }

    @Test(arguments: [
        ("x=1", "x=1; a=2; b=3"), ("a=1", "a=2; b=3"), (" a = 1 ;; x ; b;y=a=1", "x; y=a=1; a=2; b=3"),
        ("A=1; aa=1", "A=1; aa=1; a=2; b=3"), ("", "a=2; b=3"), ("c=1", "c=1; a=2; b=3"),
    ])
    func `a caller's cookies come first, without those that the jar has for the request`(_ own: String, _ all: String) {
        var jar = CookieJar()
        let origin = Self.origin("http://a.example/")
        for field in ["a=2", "b=3", "c=4; Path=/c"] { jar.store(field, from: origin, at: Self.now) }
        let selection = jar.select(for: origin, at: Self.now)
        let queue = ByteQueue()
        selection.append(others: Array(own.utf8).span, to: queue)
        selection.append(to: queue)
        #expect(queue.readable.string == all)
    }

    @Test(arguments: [
        ("a.example.com", "example.com", true), ("a.example.com", "com", false), ("a.b.co.uk", "co.uk", false),
        ("a.b.co.uk", "b.co.uk", true), ("me.github.io", "github.io", false), ("a.me.github.io", "me.github.io", true),
        ("city.kawasaki.jp", "kawasaki.jp", false), ("www.city.kawasaki.jp", "city.kawasaki.jp", true),
        ("a.svc.cluster.local", "cluster.local", true), ("a.local", "local", false), ("app", "app", true),
        ("a.xn--p1ai", "xn--p1ai", false), ("a.example.com", ".com", false), ("a.example.com", "com.", false),
    ])
    func `a cookie for a public suffix is not kept, unless that is the host itself`(
        _ host: String,
        _ domain: String,
        _ isKept: Bool
    ) {
        #expect(sent(["a=1; Domain=\(domain)"], "http://\(host)/") == (isKept ? "a=1" : ""), "\(host) \(domain)")
    }

    @Test(arguments: [
        ("a=1", "a=1"), (" a = 1 ; Path=/", "a=1"), ("a=", "a="), ("a=b=c", "a=b=c"), (#"a="b c""#, #"a="b c""#),
        ("a=1;;;", "a=1"), ("a=1; unknown=2; httponly", "a=1"), ("a", ""), ("=1", ""), ("; a=1", ""), ("", ""),
        ("a=\u{1}", ""), ("a=\u{e9}", "a=\u{e9}"),
    ])
    func `a cookie is a name and a value`(_ field: String, _ expected: String) {
        #expect(sent([field], "http://a.example/") == expected)
    }

    @Test(arguments: [
        ("a=1", "http://a.example/", true), ("a=1", "http://b.a.example/", false),
        ("a=1; Domain=a.example", "http://b.a.example/", true), ("a=1; domain=.A.Example", "http://b.a.example/", true),
        ("a=1; Domain=example", "http://a.example/", false), ("a=1; Domain=example.", "http://a.example/", false),
        ("a=1; Domain=b.a.example", "http://b.a.example/", false),
        ("a=1; Domain=xa.example", "http://a.example/", false),
        ("a=1; Domain=", "http://a.example/", true), ("a=1; Domain=", "http://b.a.example/", false),
        ("a=1; Domain=b.example; Domain=a.example", "http://a.example/", true),
        ("a=1; Domain=a.example", "http://ba.example/", false),
    ])
    func `a cookie goes to its host, or to a domain above that and what is below it`(
        _ field: String,
        _ to: String,
        _ isSent: Bool
    ) {
        #expect(sent([field], "http://a.example/", to: to) == (isSent ? "a=1" : ""))
    }

    @Test func `a name without a dot, or an address, is a domain for itself alone`() {
        #expect(sent(["a=1; Domain=localhost"], "http://localhost/") == "a=1")
        #expect(sent(["a=1; Domain=localhost"], "http://localhost/", to: "http://b.localhost/") == "")
        #expect(sent(["a=1; Domain=10.0.0.1"], "http://10.0.0.1/") == "a=1")
        #expect(sent(["a=1; Domain=0.0.1"], "http://10.0.0.1/") == "")
    }

    @Test(arguments: [
        ("/", "/", true), ("/", "/x/y", true), ("/x", "/x", true), ("/x", "/x/", true), ("/x", "/x/y", true),
        ("/x", "/xy", false), ("/x/", "/x", false), ("/x/", "/x/y", true), ("/x", "/", false), ("/X", "/x", false),
        // No path, or what is none: the folder of the request, /f.
        ("", "/f", true), ("", "/f/h", true), ("", "/", false), ("x", "/f/g", true), ("x", "/x", false),
    ])
    func `a cookie goes to its path and what is below it`(_ path: String, _ to: String, _ isSent: Bool) {
        let came = sent(["a=1; Path=\(path)"], "http://a.example/f/g", to: "http://a.example\(to)")
        #expect(came == (isSent ? "a=1" : ""))
    }

    @Test(arguments: [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("*", "/"), ("", "/")])
    func `the folder of a request`(_ path: String, _ folder: String) {
        #expect(CookieJar.defaultPath(of: Array(path.utf8)) == Array(folder.utf8))
    }

    @Test func `a secure cookie goes only where nobody can read it`() {
        #expect(sent(["a=1; Secure"], "https://a.example/") == "a=1")
        #expect(sent(["a=1; secure=no"], "https://a.example/", to: "http://a.example/") == "")
    }

    @Test(arguments: [
        ("Max-Age=10", 9, true), ("Max-Age=10", 10, false), ("Max-Age=0", 0, false), ("Max-Age=-1", 0, false),
        ("Max-Age=1x", 99, true), ("Max-Age=", 99, true), ("Max-Age=99999999999999999999", 1 << 32, true),
        ("Expires=Sun, 06 Nov 1994 08:49:47 GMT", 9, true), ("Expires=Sun, 06 Nov 1994 08:49:47 GMT", 10, false),
        ("Expires=soon", 99, true), ("Expires=Sun, 06 Nov 1994 08:49:47 GMT; Max-Age=20", 19, true),
        ("Max-Age=20; Expires=Sun, 06 Nov 1994 08:49:47 GMT", 20, false), ("Max-Age=5; Max-Age=20", 19, true),
    ])
    func `a cookie ends in time, and Max-Age goes before Expires`(_ life: String, _ after: Int, _ lives: Bool) {
        #expect(sent(["a=1; \(life)"], "http://a.example/", after: after) == (lives ? "a=1" : ""))
    }

    @Test func `a cookie replaces the one of its name, domain and path, and may end it`() {
        let from = "http://a.example/"
        #expect(sent(["a=1", "b=2", "a=3"], from) == "a=3; b=2")
        #expect(sent(["a=1", "b=2", "a=; Max-Age=0"], from) == "b=2")
        #expect(sent(["a=1", "a=2; Domain=a.example"], from) == "a=2")
    }

    @Test func `longer paths come first, then what was made first`() {
        let fields = ["a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x", "d=4; Path=/z"]
        #expect(sent(fields, "http://a.example/x/y") == "b=2; c=3; a=1")
        #expect(sent(["a=1", "b=2", "c=3", "a=4"], "http://a.example/") == "a=4; b=2; c=3")
    }

    // MARK: Bounds

    @Test func `a cookie of more than 4 KiB is not kept`() {
        let value = String(repeating: "x", count: CookieJar.maxLength - 2)
        #expect(sent(["a=\(value)"], "http://a.example/") == "a=\(value)")
        #expect(sent(["a=\(value)x"], "http://a.example/") == "")
    }

    @Test func `of a domain those go that were not used for the longest time`() {
        var jar = CookieJar()
        let (from, most) = (Self.origin("http://a.example/"), CookieJar.maxPerDomain)
        for index in 0..<most {
            jar.store("c\(index)=; Path=/\(index)", from: from, at: Self.now)
        }
        #expect(sent(by: &jar, "http://a.example/0") == "c0=")
        jar.store("new=; Path=/new", from: from, at: Self.now)
        #expect(jar.count == most)
        #expect(sent(by: &jar, "http://a.example/0") == "c0=")
        #expect(sent(by: &jar, "http://a.example/1") == "")
        #expect(sent(by: &jar, "http://a.example/new") == "new=")
    }

    @Test func `those that are over go before others`() {
        var jar = CookieJar()
        let from = Self.origin("http://a.example/")
        for index in 0..<CookieJar.maxPerDomain {
            let life = index == 7 ? "; Max-Age=1" : ""
            jar.store("c\(index)=; Path=/\(index)\(life)", from: from, at: Self.now)
        }
        jar.store("new=", from: from, at: Self.now + 2 * .second)
        #expect(sent(by: &jar, "http://a.example/0", at: Self.now + 2 * .second) == "c0=; new=")
        #expect(sent(by: &jar, "http://a.example/7", at: Self.now) == "new=")
    }

    @Test func `a jar has 300 cookies at most`() {
        var jar = CookieJar()
        for index in 0...CookieJar.maxCookies {
            jar.store("c=\(index)", from: Self.origin("http://\(index).example/"), at: Self.now)
        }
        #expect(jar.count == CookieJar.maxCookies)
        #expect(sent(by: &jar, "http://0.example/") == "")
        #expect(sent(by: &jar, "http://1.example/") == "c=1")
    }
}

extension CookieJar {
    fileprivate mutating func store(_ field: String, from origin: Origin, at now: WallTime) {
        let bytes = Array(field.utf8)
        let cookie = Cookie(bytes.span, from: origin, at: now, isPublicSuffix: PublicSuffixes.contains)
        if let cookie { store(cookie, at: now) }
    }
}
