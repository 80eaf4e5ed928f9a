import Testing

@Suite struct HeaderRuleTests {
    private static func headers(_ rules: String) -> String {
        plain + "\ninterceptors:\n  - headers:\n" + rules.split(separator: "\n").map { "      \($0)\n" }.joined()
    }

    private func fields(_ head: String) -> [String] {
        head.split(separator: "\r\n").dropFirst().map(String.init)
    }

    /// The fields that the upstream gets for these, without the host.
    private func request(
        _ rules: String,
        _ fields: String...,
        target: String = "/pkg.Service/Look?q=1",
        on listener: String? = nil
    ) -> [String] {
        var got: [String] = []
        runProxy(Self.headers("request: {\(rules)}")) { harness in
            harness.caller().send(
                (["GET \(target) HTTP/1.1", "host: App:80"] + fields + ["", ""]).joined(separator: "\r\n")
            )
            got = self.fields(harness.upstream().accept().head()).filter { !$0.hasPrefix("host:") }
        }
        return got
    }

    @Test func `set gives one value, in the place of the first`() {
        #expect(request("set: {x-a: new}", "x-a: 1", "x-b: 2", "X-A: 3") == ["x-a: new", "x-b: 2"])
        #expect(request("set: {x-a: new}", "x-b: 2") == ["x-b: 2", "x-a: new"])
    }

    @Test func `add keeps what is there`() {
        #expect(request("add: {x-a: new}", "x-a: 1") == ["x-a: 1", "x-a: new"])
    }

    @Test func `if_absent leaves alone what is there, whatever it is`() {
        #expect(request("if_absent: {x-a: new}", "x-a: ") == ["x-a: "])
        #expect(request("if_absent: {x-a: new}, remove: [x-a]", "x-a: 1", "x-b: 2") == ["x-b: 2", "x-a: new"])
        #expect(request("if_absent: {x-a: late}, set: {x-a: set}") == ["x-a: set"])
    }

    @Test func `remove takes all of a name`() {
        #expect(request("remove: [X-A]", "x-a: 1", "x-b: 2", "X-A: 3") == ["x-b: 2"])
    }

    @Test func `templates see the request as it was before the rules`() {
        #expect(request("remove: [x-old], set: {x-new: '{header:x-old}'}", "x-old: 1") == ["x-new: 1"])
        #expect(request("set: {x-a: '{header:x-b}', x-b: '{header:x-a}'}", "x-a: 1", "x-b: 2") == ["x-a: 2", "x-b: 1"])
        #expect(request("rename: {x-a: x-b}, add: {x-c: '{header:x-a}!'}", "x-a: 1") == ["x-b: 1", "x-c: 1!"])
        #expect(request("set: {x-a: '2'}, if_absent: {x-c: '{header:x-a}'}", "x-a: 1") == ["x-a: 2", "x-c: 1"])
    }

    @Test func `rename keeps values and places`() {
        #expect(request("rename: {x-a: x-c}", "x-a: 1", "x-b: 2", "x-a: 3") == ["x-c: 1", "x-b: 2", "x-c: 3"])
    }

    @Test func `rename to the same name changes nothing`() {
        #expect(request("rename: {x-a: X-A}", "x-a: 1") == ["x-a: 1"])
    }

    @Test func `replace changes all matches in all values, and groups stand for what they matched`() {
        let rule = #"replace: {x-a: {pattern: "v(\\d)", with: "w$1$$"}}"#
        #expect(request(rule, "x-a: v1 v2", "x-b: v3", "x-a: none") == ["x-a: w1$ w2$", "x-b: v3", "x-a: none"])
    }

    @Test func `rules work in the order remove, rename, replace, set, add`() {
        let rules = #"""
            add: {x-b: added}, set: {x-c: set}, replace: {x-b: {pattern: one, with: two}}, rename: {x-a: x-b}, remove: [x-b]
            """#
        #expect(request(rules, "x-b: gone", "x-a: one") == ["x-b: two", "x-c: set", "x-b: added"])
    }

    @Test func `templates see the call`() {
        let parts = "{host}|{upstream.host}|{path}|{service}|{method}|{header:x-a}|{header:x-none}|{peer.uid}|{{}}"
        let rules = #"set: {x-t: "\#(parts)"}"#
        let rpc = "/pkg.Service/Look?connect=v1&encoding=json&message=%7B%7D"
        let expected = "x-t: App:80|127.0.0.1:9000|/pkg.Service/Look|pkg.Service|Look|1|||{}"
        #expect(request(rules, "x-a: 1", target: rpc) == ["x-a: 1", expected])
        // Plain HTTP has neither a service nor a method, whatever its path.
        let plain = "x-t: App:80|127.0.0.1:9000|/pkg.Service/Look|||1|||{}"
        #expect(request(rules, "x-a: 1") == ["x-a: 1", plain])
    }

    @Test func `the id of a call is the same wherever it is asked for, and another for each call`() {
        let id = request(#"set: {x-a: "{call.id}", x-b: "{call.id}"}"#).map { $0.dropFirst(5) }
        #expect(id.count == 2)
        #expect(id[0] == id[1])
        #expect(id[0].count == 32)
        #expect(request(#"set: {x-a: "{call.id}"}"#).map { $0.dropFirst(5) } != [id[0]])
    }

    @Test(arguments: Transport.allCases)
    func `responses are changed by their own rules`(_ transport: Transport) {
        runProxy(transport, Self.headers("response: {set: {x-by: martlet}, remove: [server]}")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 200 OK", "server: x", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "x-by: martlet", "content-length: 0"))
        }
    }

    @Test func `trailers are changed, and made where there are none`() {
        runProxy(Self.headers("trailers: {set: {x-a: new}, remove: [x-debug]}")) { harness in
            let caller = harness.caller()
            caller.send(
                http(
                    "POST /pkg.Service/Say HTTP/1.1",
                    "host: a",
                    "content-type: application/grpc-web",
                    "content-length: 0"
                )
            )
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            let head = http("HTTP/1.1 200 OK", "content-type: application/grpc-web", "transfer-encoding: chunked")
            upstream.send(head + "0\r\nx-b: 0\r\nx-debug: 1\r\n\r\n")
            caller.expect(head + "0\r\nx-b: 0\r\nx-a: new\r\n\r\n")
            caller.send(
                http(
                    "POST /pkg.Service/Say HTTP/1.1",
                    "host: a",
                    "content-type: application/grpc-web",
                    "content-length: 0"
                )
            )
            _ = upstream.head()
            upstream.send(head + "0\r\n\r\n")
            caller.expect(head + "0\r\nx-a: new\r\n\r\n")
        }
    }

    @Test func `in Connect unary trailers are changed once, also where somebody asks for the end`() {
        let rules = "{headers: {trailers: {add: {x-a: new}}}}, {error: {code: aborted}}"
        runProxy(plain + "\ninterceptors: [\(rules)]") { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            let type = "content-type: application/json"
            upstream.send(
                http(
                    "HTTP/1.1 404 Not Found",
                    type,
                    "trailer-x-b: 1",
                    "content-length: 20",
                    body: #"{"code":"not_found"}"#
                )
            )
            let head = caller.head()
            #expect(head.contains("trailer-x-b: 1\r\ntrailer-x-a: new\r\n"))
            #expect(head.split(separator: "x-a: new").count == 2)
        }
    }

    @Test func `in Connect unary trailers are headers with a prefix`() {
        runProxy(Self.headers("trailers: {set: {x-a: new}, remove: [x-debug], rename: {x-b: x-c}}")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            let fields = ["trailer-x-debug: 1", "x-debug: 2", "trailer-x-b: 3"]
            upstream.send((["HTTP/1.1 200 OK"] + fields + ["content-length: 2", "", "{}"]).joined(separator: "\r\n"))
            caller.expect(
                http(
                    "HTTP/1.1 200 OK",
                    "x-debug: 2",
                    "trailer-x-c: 3",
                    "trailer-x-a: new",
                    "content-length: 2",
                    body: "{}"
                )
            )
        }
    }
}
