import Bytes
import HTTP
import Testing

/// Paths are forwarded in one form and compared in one form, however they were written.
struct PathTests {
    @Test(arguments: [
        ("/a/Say", "/a/Say"),
        ("/a/S%61y", "/a/Say"),
        ("/a/%53%61%79?x=%61", "/a/Say?x=%61"),
        ("/a%2fb", "/a%2fb"),
        ("/a%20b%41", "/a%20bA"),
        ("/a%4", "/a%4"),
        ("/a%zz%7E", "/a%zz~"),
        ("/%4%41%42", "/%4%41B"),
        ("/%%32e%%32e/b", "/%%32e%%32e/b"),
        ("/%2%65%2%65/b", "/%2%65%2%65/b"),
        ("/%25%32%65/b", "/%252e/b"),
        ("/a/./b", "/a/b"),
        ("/a/../b", "/b"),
        ("/../../b", "/b"),
        ("/a/%2e%2E/b/", "/b/"),
        ("/a/b/..", "/a/"),
        ("/a/.", "/a/"),
        ("/..", "/"),
        ("/a/..b/.c", "/a/..b/.c"),
        ("/a//b", "/a//b"),
        ("/x/../?q=/../", "/?q=/../"),
    ])
    func `a path is forwarded in one form`(_ written: String, _ normal: String) {
        let head = HTTPHead()
        head.setTarget(Array(written.utf8).span)
        head.normalizePath()
        #expect(String(decoding: head.target.array, as: UTF8.self) == normal)
        head.normalizePath()
        #expect(String(decoding: head.target.array, as: UTF8.self) == normal)
    }

    @Test(arguments: [
        ("/", "/"), ("/a/Say", "/a/Say"), ("/a/S%61y", "/a/Say"), ("/%7Eusers", "/~users"), ("/%7eusers", "/~users"),
        ("/~users", "/~users"), ("/%2D%2e%5F%7E", "/-._~"), ("/%30%39%41%5a%61%7A", "/09AZaz"),
        // "@" means nothing in a path.
        ("/@me", "/@me"), ("/%40me", "/@me"),
        // What means something in a path, or to some server, stays apart from its escape.
        ("/a%2fb", "/a%2Fb"), ("/a%2Fb", "/a%2Fb"), ("/a/b", "/a/b"), ("/7:cancel", "/7:cancel"),
        ("/7%3acancel", "/7%3Acancel"), ("/7:%63ancel", "/7:cancel"), ("/a;x=1", "/a;x=1"),
        ("/a%3bx%3d1", "/a%3Bx%3D1"),
        ("/a+b", "/a+b"), ("/a%2bb", "/a%2Bb"), ("/a%20b", "/a%20b"), ("/a%3fb", "/a%3Fb"), ("/a%23b", "/a%23b"),
        ("/a%25b", "/a%25b"), ("/a%2561", "/a%2561"), ("/%c3%a4", "/%C3%A4"), ("/%00", "/%00"), ("/a%5cb", "/a%5Cb"),
        ("/a%26%24%21%27%28%29%2a%2c", "/a%26%24%21%27%28%29%2A%2C"), ("/%5b%5d", "/%5B%5D"),
        // Escapes that are not whole, and those that could complete them.
        ("/a%", "/a%"), ("/a%4", "/a%4"), ("/a%zz%7e", "/a%zz~"), ("/%4%41%42", "/%4%41B"),
        ("/%%32e%%32e/b", "/%%32e%%32e/b"), ("/%2%65%2%65/b", "/%2%65%2%65/b"), ("/%%40", "/%%40"),
        ("/%25%34%30", "/%2540"),
        // Dot segments, and two slashes, which are no dot segment.
        ("/./admin", "/admin"), ("/x/../admin", "/admin"), ("/x/%2e%2E/admin", "/admin"), ("/%2e/admin", "/admin"),
        ("//admin", "//admin"), ("/a//../b", "/a/b"), ("/../../b", "/b"), ("/a/..", "/"), ("/a/.", "/a/"),
        ("/a/..b/.c", "/a/..b/.c"), ("/%61dmin", "/admin"), ("/a%2f..%2fb", "/a%2F..%2Fb"),
    ])
    func `paths are compared in a normal form`(_ written: String, _ normal: String) {
        #expect(String(decoding: URLPath.normal(Array(written.utf8).span), as: UTF8.self) == normal)
        #expect(String(decoding: URLPath.normal(Array(normal.utf8).span), as: UTF8.self) == normal)
        let head = HTTPHead()
        head.setTarget(Array((written + "?q=%7e").utf8).span)
        head.normalizePath()
        #expect(head.withNormalPath { String(decoding: $0.array, as: UTF8.self) } == normal)
    }

    @Test(arguments: [
        ("/a%7e?q=%7e/../", "/a~?q=%7e/../"), ("/x/../a?/./", "/a?/./"), ("/a?", "/a?"), ("/%40?", "/@?"), ("/a", "/a"),
    ])
    func `a query has no normal form`(_ written: String, _ normal: String) {
        #expect(String(decoding: URLPath.normal(target: Array(written.utf8).span), as: UTF8.self) == normal)
    }

    @Test(arguments: [
        ("/", "/"), ("/a/.", "/a/."), ("/a/..", "/a/.."), ("/x/../b", "/b"), ("/%7e/%61", "/~/a"), ("/a/.?x", "/a/?x"),
        ("/a%2", "/a%2"),
    ])
    func `the beginning of a path may end within a segment`(_ written: String, _ normal: String) {
        #expect(String(decoding: URLPath.normal(prefix: Array(written.utf8).span), as: UTF8.self) == normal)
    }

    @Test(arguments: [
        ("/%40me/%40x", 3, "/@m", 5), ("/~a/b", 3, "/~a", 3), ("/a%2fb", 3, "/a%2F", 5), ("/a", 9, "/a", 2),
        ("/%40", 0, "", 0),
    ])
    func `the beginning of a normal form has a place in the path`(
        _ path: String,
        _ count: Int,
        _ bytes: String,
        _ end: Int
    ) {
        let beginning = URLPath.normalBeginning(of: Array(path.utf8).span, count: count)
        #expect(String(decoding: beginning.bytes, as: UTF8.self) == bytes)
        #expect(beginning.end == end)
    }
}
