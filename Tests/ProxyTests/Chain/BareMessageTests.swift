import Testing

/// Messages of unary Connect over HTTP/1.1, and those in the query of a GET.
@Suite struct BareMessageTests {
    private func gate(_ options: String) -> String {
        plain + "\ninterceptors: [{name: a, gate: {\(options)}}]\n"
    }

    private let json = "content-type: application/json"

    @Test(arguments: Transport.allCases)
    func `a bare message is changed both ways over HTTP 1`(_ transport: Transport) {
        runProxy(transport, gate("upper: true")) { harness in
            let caller = harness.caller()
            let chunked = "transfer-encoding: chunked"
            caller.send(
                http(
                    "POST /pkg.Service/Say HTTP/1.1",
                    "host: a",
                    json,
                    chunked,
                    body: "3\r\n{\"a\r\n3\r\n\":0\r\n1\r\n}\r\n"
                )
            )
            caller.send("0\r\n\r\n")
            let upstream = harness.upstream().accept()
            let length = "content-length: 7"
            upstream.expect(
                http("POST /pkg.Service/Say HTTP/1.1", "host: 127.0.0.1:9000", json, length, body: "{\"A\":0}")
            )
            upstream.send(http("HTTP/1.1 200 OK", json, chunked, body: "3\r\n{\"b\r\n4\r\n\":0}\r\n0\r\n\r\n"))
            caller.expect(http("HTTP/1.1 200 OK", json, length, body: "{\"B\":0}"))
            caller.send(say)
            upstream.expect(saidUpstream)
        }
    }

    @Test(arguments: Transport.allCases)
    func `the message in the query of a GET is changed there`(_ transport: Transport) {
        runProxy(transport, gate("upper: true, sees: [request message]")) { harness in
            let caller = harness.caller()
            let start = "/pkg.Service/Say?connect=v1&encoding=json&"
            caller.send(http("GET \(start)message=%7B%22a%22%3A0%7D&x=1 HTTP/1.1", "host: a"))
            let upstream = harness.upstream().accept()
            let line = upstream.head().split(separator: "\r\n").first ?? ""
            let query = "connect=v1&base64=1&encoding=json&message=eyJBIjowfQ&x=1"
            #expect(line == "GET /pkg.Service/Say?\(query) HTTP/1.1")
            #expect(harness.eventLog.drain() == [#"a request message 1 {"a":0}"#])
            upstream.send(fine)
            caller.expect(fine)
            caller.send(http("GET \(start)message=eyJhIjowfQ&base64=1 HTTP/1.1", "host: a"))
            let second = upstream.head().split(separator: "\r\n").first ?? ""
            #expect(second.contains("message=eyJBIjowfQ"))
        }
    }

    @Test func `the query of a GET whose message is only looked at stays as it is`() {
        runProxy(gate("sees: [request message]")) { harness in
            let target = "/pkg.Service/Say?message=%7b%22a%22%3a0%7D&encoding=json&connect=v1&z"
            harness.caller().send(http("GET \(target) HTTP/1.1", "host: a"))
            #expect(harness.upstream().accept().head().hasPrefix("GET \(target) HTTP/1.1\r\n"))
            #expect(harness.eventLog.drain() == [#"a request message 1 {"a":0}"#])
        }
    }

    @Test(arguments: ["base64=1&message=*", "message=%7B%7D&m%65ssage=%5B%5D"])
    func `a query without a readable message ends the call`(_ parameters: String) {
        runProxy(gate("sees: [request message]")) { harness in
            let caller = harness.caller()
            caller.send(http("GET /pkg.Service/Say?connect=v1&encoding=json&\(parameters) HTTP/1.1", "host: a"))
            #expect(caller.head().hasPrefix("HTTP/1.1 400 "))
            harness.upstream().expectNobody()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a held GET goes out with its message on release`(_ transport: Transport) {
        runProxy(transport, gate("hold: [request message, request end, response head]")) { harness in
            let caller = harness.caller()
            caller.send(http("GET /pkg.Service/Say?connect=v1&encoding=json&message=%7B%7D HTTP/1.1", "host: a"))
            harness.settle()
            #expect(harness.gates["a"].events == ["request message 1", "request end"])
            harness.gates["a"].releaseAll(lastFirst: true)
            let upstream = harness.upstream().accept()
            #expect(
                upstream.head().hasPrefix("GET /pkg.Service/Say?connect=v1&encoding=json&message=%7B%7D HTTP/1.1\r\n")
            )
            upstream.send(fine)
            caller.expectNothing()
            harness.gates["a"].release()
            caller.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `the next request on the connection waits for the held one`(_ transport: Transport) {
        runProxy(transport, gate("hold: [response end]")) { harness in
            let caller = harness.caller()
            caller.send(say + say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(fine)
            caller.expectNothing()
            #expect(harness.gates["a"].events == ["response end"])
            harness.gates["a"].release()
            caller.expect(fine)
            upstream.expect(saidUpstream)
        }
    }
}
