import Bytes
import HTTP
import Testing

/// Paths are compared in one form, however they were written.
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
    func `a path has one form`(_ written: String, _ normal: String) {
        let head = HTTPHead()
        head.setTarget(Array(written.utf8).span)
        head.normalizePath()
        #expect(String(decoding: head.target.array, as: UTF8.self) == normal)
        head.normalizePath()
        #expect(String(decoding: head.target.array, as: UTF8.self) == normal)
    }
}
