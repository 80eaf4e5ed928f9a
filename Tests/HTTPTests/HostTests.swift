import Bytes
import HTTP
import Testing

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
}
