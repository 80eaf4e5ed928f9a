import Bytes
import Testing

@testable import HTTP

/// Hosts as they stand in an authority.
@Suite struct HostTests {
    @Test(arguments: [
        ("a.example:8080", "a.example"), ("a.example", "a.example"), ("a.example:", "a.example"),
        ("a.example.:80", "a.example"), ("a.example.", "a.example"), ("A.Example:1", "A.Example"),
        ("10.0.0.1:80", "10.0.0.1"), ("10.0.0.1", "10.0.0.1"), ("host8080", "host8080"),
        ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("[fe80::12]", "[fe80::12]"),
        // What is no port stays.
        ("a:b", "a:b"), ("a:8x", "a:8x"), ("8080", "8080"), (":80", ""), ("", ""), (".", "."),
    ])
    func `a host has no port and no dot at its end`(_ authority: String, _ host: String) {
        #expect(Host.withoutPort(Array(authority.utf8).span).string == host)
    }

    @Test(arguments: [
        ("a.example", "a.example", true), ("A.EXAMPLE", "a.example", true), ("", "", true),
        ("a.example", "b.example", false), ("a.example", "a.exampl", false), ("a", "", false),
        // The expected one is in small letters, and another is none.
        ("a", "A", false), ("[", "{", false),
    ])
    func `hosts are the same whatever the case of their letters`(_ host: String, _ expected: String, _ isSame: Bool) {
        let (host, expected) = (Array(host.utf8), Array(expected.utf8))
        #expect(Host.equal(host.span, expected.span) == isSame)
    }

    @Test(arguments: [
        ("a", "a", 80, true), ("a:80", "a", 80, true), ("a", "a:80", 80, true), ("A.b", "a.B", 80, true),
        ("a:", "a", 80, true), ("a:", "a:80", 80, true), ("a:443", "a", 443, true), ("a:080", "a:80", 80, true),
        ("[::1]:80", "[::1]", 80, true), ("[::A]", "[::a]:", 80, true), ("a%2Fb", "A%2fB", 80, true),
        ("a:81", "a:81", 80, true), ("10.0.0.1:80", "10.0.0.1", 80, true),
        ("a", "b", 80, false), ("a:80", "a", 443, false), ("a:443", "a", 80, false), ("a:81", "a", 80, false),
        ("a.", "a", 80, false), ("a:1", "a:11", 80, false), ("[::1]:1", "[::11]", 80, false), ("a", "", 80, false),
        ("a8", "a:8", 8, false), ("[::1]", "[0:0:0:0:0:0:0:1]", 80, false),
    ])
    func `authorities are the same whatever the spelling`(_ one: String, _ other: String, _ port: Int, _ areSame: Bool)
    {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        #expect(Host.areSame(one.span, other.span, defaultPort: port) == areSame)
        #expect(Host.areSame(other.span, one.span, defaultPort: port) == areSame)
    }
}
