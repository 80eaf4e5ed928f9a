import Configuration
import Testing
import Time

/// Durations, sizes and addresses as a file writes them.
struct LiteralTests {
    @Test(arguments: [
        ("100us", Duration.microseconds(100)), ("250ms", .milliseconds(250)), ("2s", .seconds(2)),
        ("5m", .seconds(300)), ("1h", .seconds(3600)),
        ("0s", .zero),
        ("87600h", .seconds(315_360_000)),
    ])
    func `a duration is a whole number with a unit`(text: String, duration: Duration) {
        #expect(Duration(text: text) == duration)
    }

    @Test(arguments: [
        "", "5", "s", "-1s", "+1s", "1.5s", "1 s", "1S", "1d", "1h30m", "5\u{301}s", "٥s", "87601h",
        "99999999999999999999s",
        "9223372036854775807h",
    ])
    func `anything else is no duration`(text: String) {
        #expect(Duration(text: text) == nil)
    }

    @Test(arguments: [
        (Duration.microseconds(250), "250us"), (.microseconds(1500), "1500us"), (.milliseconds(1500), "1500ms"),
        (.microseconds(2000), "2ms"), (.seconds(60), "1m"), (.seconds(7200), "2h"), (.zero, "0s"),
    ])
    func `a duration is written in the largest unit that is exact`(duration: Duration, text: String) {
        #expect(duration.text == text)
        #expect(Duration(text: text) == duration)
    }

    @Test(arguments: [
        ("512B", 512), ("64KiB", 65536), ("4MiB", 4_194_304), ("1GiB", 1_073_741_824), ("1000", 1000), ("0", 0),
    ])
    func `a size is a whole number with a binary unit`(text: String, bytes: Int) {
        #expect(ByteCount(text: text)?.bytes == bytes)
    }

    @Test(arguments: [(0, "0B"), (1, "1B"), (1000, "1000B"), (1024, "1KiB"), (1536, "1536B"), (4_194_304, "4MiB")])
    func `a size is written in the largest unit that is exact`(bytes: Int, text: String) {
        #expect(ByteCount.text(bytes) == text)
        #expect(ByteCount(text: text)?.bytes == bytes)
    }

    @Test(arguments: ["", "KiB", "64KB", "64k", "1.5MiB", "-1", "64 KiB", "9223372036854775807GiB", "1TiB"])
    func `anything else is no size`(text: String) {
        #expect(ByteCount(text: text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", true), ("[::1]:0", true), ("localhost:1", true), ("127.255.0.9:1", true),
        ("0.0.0.0:80", false),
        ("[::]:80", false), ("[::ffff:127.0.0.1]:80", true), ("[2001:db8::1]:65535", false), ("unix:/run/a.sock", true),
        ("unix:@name", true), ("systemd:web", true),
    ])
    func `a listen address is printed as it was written, and known to be local or not`(text: String, isLocal: Bool) {
        let address = ListenAddress(text)
        #expect(address?.description == text)
        #expect(address?.isLocal == isLocal)
    }

    @Test(arguments: [
        "", ":8080", "8080", "*:8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:8080 ",
        "127.1:80", "0127.0.0.1:80", "256.0.0.1:80", "host:80", "::1:80", "[::1]", "[127.0.0.1]:80", "[::1%lo]:80",
        "[:::]:80",
        "[1::2::3]:80", "[1:2:3:4:5:6:7]:80", "[1:2:3:4:5:6:7:8:9]:80", "[g::]:80", "unix:", "unix:run/a", "unix:@",
        "unix:/",
        "unix:/\(String(repeating: "a", count: 107))", "unix:/a\0b", "systemd:", "systemd:a:b", "systemd:a b",
        "http://a:80",
        "[fe80::1:80",
    ])
    func `anything else is no listen address`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000", true), ("http://localhost", "http://localhost:80", true),
        ("http://LOCALHOST/", "http://localhost:80", true),
        ("HTTP://Eliza.Example:81", "http://eliza.example:81", false),
        ("http://[::1]:9000", "http://[::1]:9000", true), ("http://[2001:db8::1]", "http://[2001:db8::1]:80", false),
        ("http://my_service:80", "http://my_service:80", false),
        ("http://localhost.evil.example:80", "http://localhost.evil.example:80", false),
        ("http://127.0.0.1.evil.example", "http://127.0.0.1.evil.example:80", false),
        ("unix:/run/a.sock", "unix:/run/a.sock", true), ("unix+h2c:/run/a.sock", "unix+h2c:/run/a.sock", true),
        ("https://a.example", "https://a.example:443", false), ("https://a:80", "https://a:80", false),
        ("h2c://a", "h2c://a:80", false), ("HTTPS://localhost", "https://localhost:443", true),
    ])
    func `an upstream URL says where the upstream is, and whether bytes stay here`(
        text: String,
        printed: String,
        isHere: Bool
    ) throws {
        let url = try UpstreamURL(text)
        #expect(url.description == printed)
        #expect(url.isLoopback == isHere)
    }

    @Test(arguments: [
        "", "http://", "http:///", "http://a:0", "http://a:x", "http://a:80:80", "http://a b", "http://-a",
        "http://a..b", "http://1.2.3",
        "http://a?b", "http://a#b", "http://a@b", "http://é", "http://[::1", "unix:", "unix+h2c:a", "unix+https:/a",
        "a", "https://", "https:///", "h2c:a",
        "http://a\r\nb",
        "http://\(String(repeating: "a.", count: 127))a",
    ])
    func `anything else is no upstream URL`(text: String) {
        #expect(throws: UpstreamURL.Malformed.self) { try UpstreamURL(text) }
    }

    @Test(arguments: [
        ("heder", ["headers", "header_order", "read"], "did you mean \"headers\"?"),
        ("tokne", ["log", "token"], "did you mean \"token\"?"),
        ("warning", ["error", "warn"], "did you mean \"warn\"?"), ("Listen", ["listen"], "did you mean \"listen\"?"),
        ("x", ["a", "b"], "expected one of: a, b"), ("quite_other", ["log"], "expected one of: log"),
        ("x", [], "none is defined"),
    ])
    func `an unknown word brings a guess, or what is known`(word: String, known: [String], text: String) {
        #expect(Suggestion.text(for: word, among: known) == text)
    }

    @Test func `text from the file is quoted on one line and kept short`() {
        #expect(Diagnostic.quote("a\nb\u{1b}[31m\u{85}") == "\"a\\u{a}b\\u{1b}[31m\\u{85}\"")
        let named = Diagnostic(mark: Mark(line: 1, column: 1), message: "/a\tb: cannot be read")
        #expect(named.message == "/a\\u{9}b: cannot be read")
        #expect(Diagnostic.quote(String(repeating: "x", count: 61)) == "\"" + String(repeating: "x", count: 60) + "…\"")
    }
}
