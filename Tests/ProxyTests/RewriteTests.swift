import Configuration
import Documents
import Interceptors
import Testing

@testable import Proxy

/// Requests that get another path, query or host.
@Suite struct RewriteTests {
    private static func rewrite(_ options: String, more: String = "") -> String {
        plain + "\ninterceptors:\n  - rewrite: {\(options)}\n\(more)"
    }

    /// A call of Connect by GET.
    private static let rpc = "/pkg.Service/Look?connect=v1&encoding=json&message=%7B%7D"

    /// The first line and the host that reach the upstream.
    private func forwarded(
        _ options: String,
        _ target: String = "/pkg.Service/Look?a=1&b=2",
        more: String = ""
    ) -> [String] {
        var lines: [String] = []
        runProxy(Self.rewrite(options, more: more)) { harness in
            harness.caller().send(http("GET \(target) HTTP/1.1", "host: app", "x-a: v/1 2"))
            lines = harness.upstream().accept().head().split(separator: "\r\n").map(String.init)
        }
        return lines
    }

    private func target(_ options: String, _ target: String = "/pkg.Service/Look?a=1&b=2") -> String {
        String(forwarded(options, target)[0].dropFirst("GET ".count).dropLast(" HTTP/1.1".count))
    }

    private func errors(_ options: String) -> [String] {
        let diagnostics = Diagnostics()
        let yaml = Self.rewrite(options)
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.lines(file: "f").map { String($0.drop { $0 != " " }.dropFirst()) }
    }

    // MARK: Paths

    @Test func `a path is what the template says, and the query stays`() {
        #expect(target("path: /other") == "/other?a=1&b=2")
        #expect(target(#"path: "/{method}{path}""#, Self.rpc) == "/Look\(Self.rpc)")
        // Plain HTTP has no method, whatever its path.
        #expect(target(#"path: "/{method}{path}""#) == "//pkg.Service/Look?a=1&b=2")
        #expect(target("path: { template: /other }", "/x") == "/other")
    }

    @Test func `a pattern changes what it matches`() {
        #expect(target(#"path: {pattern: "^/v1/(.*)$", with: "/v2/$1"}"#, "/v1/a?q=/v1/") == "/v2/a?q=/v1/")
        #expect(target(#"path: {pattern: "^/v1/(.*)$", with: "/v2/$1"}"#, "/v3/v1/a?q") == "/v3/v1/a?q")
        #expect(target(#"path: {pattern: "o", with: "0"}"#, "/oo?o") == "/00?o")
    }

    @Test(arguments: [
        ("/a/", "/b/", "/a/x", "/b/x"), ("/a/", "/b/", "/a", "/a"), ("/a/", "/", "/a/x/a/y", "/x/a/y"),
        ("/a", "/b", "/a", "/b"), ("/a", "/b", "/a/x", "/b/x"), ("/a", "/b", "/ab", "/ab"),
        ("/a", "\"\"", "/a", "/"), ("/a", "\"\"", "/a/x", "/x"),
    ])
    func `a prefix changes where it ends with a segment`(prefix: String, with: String, from: String, to: String) {
        #expect(target("path: {prefix: \(prefix), with: \(with)}", from + "?q") == to + "?q")
    }

    @Test func `a path that is made is brought into the form in which paths are compared`() {
        #expect(target(#"path: "/a/./b/%61{path}""#, "/x") == "/a/b/a/x")
    }

    @Test func `what is asked of the server as a whole keeps having no path`() {
        runProxy(Self.rewrite("path: /other")) { harness in
            harness.caller().send(http("OPTIONS * HTTP/1.1", "host: app"))
            #expect(harness.upstream().accept().head().hasPrefix("OPTIONS * HTTP/1.1\r\n"))
        }
    }

    @Test(arguments: [
        #"path: "{header:x-none}""#, #"path: "/{header:x-a}""#, #"path: {pattern: "^/", with: ""}"#,
        #"authority: "{header:x-a}""#, #"authority: "{header:x-none}""#,
    ])
    func `what is no path or host when it is made rejects the call`(_ options: String) {
        runProxy(Self.rewrite(options)) { harness in
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.1", "host: app", "x-a: v/1 2"))
            #expect(caller.head().hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"))
            #expect(
                String(decoding: caller.receiveAll(), as: UTF8.self).contains("the rendered ")
            )
            harness.upstream().expectNobody()
        }
    }

    // MARK: Queries

    @Test func `parameters are removed, set in their place and added, and others keep their bytes`() {
        let options = #"query: {set: {b: "x y/ä", n: "{header:x-a}"}, add: {a: "2"}, remove: [c]}"#
        let target = target(options, "/p?z=%7e+&b=1&&c&a=1&B=%62&b=3&c=4&%62=5")
        #expect(target == "/p?z=%7e+&b=x%20y%2F%C3%A4&&a=1&B=%62&n=v%2F1%202&a=2")
    }

    @Test func `a query comes and goes with its question mark`() {
        #expect(target("query: {add: {a b: c}}", "/p") == "/p?a%20b=c")
        #expect(target("query: {remove: [a b]}", "/p?a+b=1&a%20b=2") == "/p")
        #expect(target("query: {remove: [a]}", "/p") == "/p")
    }

    @Test func `the parameters of Connect are not for rules in a call that is made by them`() {
        let options = "query: {set: {message: x, tag: y}, add: {base64: '1'}, remove: [encoding]}"
        let query = "connect=v1&encoding=json&message=%7B%7D"
        #expect(target(options, "/pkg.Service/Look?\(query)") == "/pkg.Service/Look?\(query)&tag=y")
        #expect(target(options, "/p?encoding=json&message=1") == "/p?message=x&tag=y&base64=1")
    }

    // MARK: Hosts

    @Test func `the host is what the template says`() {
        #expect(forwarded(#"authority: "{method}.example:80""#, Self.rpc)[1] == "host: Look.example:80")
    }

    // MARK: What follows

    @Test func `all templates see the request as it was`() {
        let options = #"path: "/{upstream.host}/{host}", query: {set: {p: "{path}"}}, authority: "{service}""#
        let lines = forwarded(options, Self.rpc)
        let query = "connect=v1&encoding=json&message=%7B%7D&p=%2Fpkg.Service%2FLook"
        #expect(lines.prefix(2) == ["GET /127.0.0.1:9000/app?\(query) HTTP/1.1", "host: pkg.Service"])
    }

    @Test(arguments: [
        ("/a.LongerService/AndMethod", "a.LongerService/AndMethod"), ("/s/m", "s/m"), ("/a.S/M", "a.S/M"),
    ])
    func `what follows in the chain sees the service and method of the new path`(path: String, seen: String) {
        let more = #"  - headers: {request: {set: {x-seen: "{service}/{method}"}}}"#
        #expect(forwarded("path: \(path)", Self.rpc, more: more).contains("x-seen: \(seen)"))
        #expect(forwarded("path: \(path)", more: more).contains("x-seen: /"))
    }

    @Test func `a call stays what it is, and is counted and answered as such`() {
        runProxy(Self.rewrite("path: /x", more: "  - {when: {path: /x}, reject: {code: aborted}}\n")) { harness in
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 409 Conflict\r\n"))
            caller.expect(#"{"code":"aborted"}"#)
        }
    }

    @Test func `many paths that become one method are counted as one`() {
        let options = "metrics: {methods: 1}\n  - rewrite: {path: /pkg.Service/Say}\n"
        runProxy(plain + "\ninterceptors:\n  - \(options)") { harness in
            var upstream: ScriptedPeer?
            let caller = harness.caller()
            for number in 0..<3 {
                caller.send(say.replacing("Say", with: "Say\(number)"))
                upstream = upstream ?? harness.upstream().accept()
                upstream?.expect(saidUpstream)
                upstream?.send(fine)
                caller.expect(fine)
            }
            let lines = harness.metrics("martlet_rpc_started_total").filter { $0.contains("rpc_method") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains(#"rpc_method="Say""#) == true)
            #expect(lines.first?.hasSuffix(" 3") == true)
        }
    }

    // MARK: Errors of the file

    private static let notInPaths =
        "a path cannot contain spaces, quotes, control characters, ? or #; write %20 for a space"

    @Test(arguments: [
        ("path: other", #"a path must start with "/"; write for example /v2"#),
        ("path: /a?b", Self.notInPaths),
        (#"path: "/{path}#x""#, Self.notInPaths),
        ("path: {prefix: /a/, with: b}", #"a path must start with "/"; write for example /v2"#),
        ("path: {prefix: /a/, with: \"\"}", #"a path must start with "/"; write for example /v2"#),
        ("path: {prefix: a, with: /b}", #"a path must start with "/"; write for example /v1"#),
        ("path: {prefix: /a, with: /b c}", Self.notInPaths),
        ("path: {prefix: /a}", #""with" is missing; add the replacement, such as with: /"#),
        ("path: {template: /a, with: /b}", #""with" has no effect with "template"; remove it"#),
        (#"path: {pattern: "(", with: /b}"#, "missing closing parenthesis (at offset 1)"),
        (#"path: {pattern: a, with: "/$1"}"#, "the pattern has no group 1 (at offset 1)"),
        ("path: {prefix: /a, pattern: b, with: /}", #""prefix" and "pattern" cannot be set together"#),
        ("authority: http://a", "the value is not a valid host; write for example api.example or 127.0.0.1:8080"),
        (#"query: {set: {a: "{nothing}"}}"#, "{nothing} is unknown; expected one of: "),
    ])
    func `what can never be right is said when the file is loaded`(options: String, error: String) {
        let found = errors(options)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(error) == true, "\(found)")
    }
}
