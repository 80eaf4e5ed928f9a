import Testing

/// The first route that matches takes a call, whatever table it lies in.
@Suite struct RouteTests {
    /// The number of the route that takes the request, as its chain says; nil if none does.
    private func route(_ matches: [String?], _ request: String) -> Int? {
        let chains = matches.indices.map { "  c\($0): [{respond: {status: \(300 + $0)}}]\n" }.joined()
        let routes = matches.enumerated().map { index, match in
            "  - {\(match.map { "match: {\($0)}, " } ?? "")chain: c\(index)}\n"
        }
        var status = 0
        runProxy("listen: 127.0.0.1:8080\nchains:\n\(chains)routes:\n\(routes.joined())") { harness in
            let caller = harness.caller()
            caller.send(request)
            status = Int(caller.head().split(separator: " ")[1]) ?? 0
        }
        return status == 404 ? nil : status - 300
    }

    private func request(_ path: String, _ fields: String...) -> String {
        let type = ["content-type: application/json", "content-length: 0"]
        return (["POST \(path) HTTP/1.1", "host: app.example"] + type + fields + ["", ""]).joined(separator: "\r\n")
    }

    @Test func `without a match a call gets no route`() {
        #expect(route(["path: /a"], request("/b")) == nil)
        #expect(route(["service: a.B"], request("/a.C/M")) == nil)
        #expect(route(["header: {x-a: present}"], request("/b")) == nil)
    }

    @Test func `a service that a route names is none of plain HTTP`() {
        let page = http("POST /a.B/M HTTP/1.1", "host: app", "content-type: text/plain", "content-length: 0")
        #expect(route(["service: a.B, method: M", "service: a.B", "path: /a.B/"], page) == 2)
    }

    @Test func `a route without a match takes all that is left`() {
        #expect(route(["path: /a", nil, "path: /b"], request("/b")) == 1)
        #expect(route([nil, "path: /b"], request("/b")) == 0)
    }

    @Test func `exact and general routes keep the order of the file`() {
        let mixed = [
            "service: a.B, method: M, header: {x-a: present}",
            "path: /a.B/",
            "service: a.B, method: M",
            "path: /a.B/M",
            "service: a.B",
            "header: {x-b: present}",
            "host: app.example",
        ]
        #expect(route(mixed, request("/a.B/M", "x-a: 1")) == 0)
        #expect(route(mixed, request("/a.B/M")) == 1)
        #expect(route(mixed, request("/c.D/M", "x-b: 1")) == 5)
        #expect(route(mixed, request("/c.D/M")) == 6)
        let exact = Array(mixed[2...])
        #expect(route(exact, request("/a.B/M")) == 0)
        #expect(route(exact, request("/a.B/N")) == 2)
        let backwards = Array(exact.reversed())
        #expect(route(backwards, request("/a.B/M")) == 0)
        #expect(route(Array(backwards[2...]), request("/a.B/M")) == 0)
        #expect(route(Array(backwards[3...]), request("/a.B/M?connect=v1")) == 0)
    }

    @Test func `one of several services, methods or paths is enough`() {
        let match = ["service: [a.B, c.D], method: [M, N]", "path: [/x, /y]", "service: [e.F, g.H]"]
        for path in ["/a.B/M", "/a.B/N", "/c.D/M", "/c.D/N"] { #expect(route(match, request(path)) == 0) }
        for path in ["/x", "/y?z"] { #expect(route(match, request(path)) == 1) }
        for path in ["/e.F/X", "/g.H/Y"] { #expect(route(match, request(path)) == 2) }
        #expect(route(match, request("/a.B/O")) == nil)
    }

    @Test func `of prefixes the first in the file counts, however long they are`() {
        let matches = ["path: /a/b/c/", "path: [/x, /a/]", "path: /a/b/", "path: /"]
        #expect(route(matches, request("/a/b/c/d/e")) == 0)
        #expect(route(matches, request("/a/b/c/")) == 0)
        #expect(route(matches, request("/a/b/c")) == 1)
        #expect(route(matches, request("/x")) == 1)
        #expect(route(matches, request("/a")) == 3)
        #expect(route(matches.reversed(), request("/a/b/c/")) == 0)
        #expect(route(["path: /a/"], request("/b/a/")) == nil)
        #expect(route(["path: /a/b/, header: {x-a: present}", "path: /a/"], request("/a/b/")) == 1)
    }

    @Test func `many routes lead where they should`() {
        let matches = (0..<200).map { "service: s\($0).S" }
        #expect(route(matches, request("/s7.S/M")) == 7)
        #expect(route(matches, request("/s199.S/M")) == 199)
    }

    @Test(arguments: Transport.allCases)
    func `routes lead to their upstreams`(_ transport: Transport) {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {a: "http://127.0.0.1:9000", b: "http://127.0.0.1:9001"}
            routes:
              - {match: {service: pkg.Service, method: Say}, upstream: b}
              - {upstream: a}
            """
        runProxy(transport, yaml) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream("127.0.0.1:9001").accept()
            #expect(upstream.head().hasPrefix("POST /pkg.Service/Say HTTP/1.1\r\nhost: 127.0.0.1:9001\r\n"))
            upstream.send(fine)
            caller.expect(fine)
            caller.send(get)
            harness.upstream("127.0.0.1:9000").accept().expect(gotUpstream)
        }
    }
}
