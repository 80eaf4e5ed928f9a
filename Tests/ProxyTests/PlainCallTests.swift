import Testing
import Time

@Suite struct PlainCallTests {
    @Test(arguments: Transport.allCases)
    func `a call goes to the upstream and its response to the caller`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(say)
            let connection = harness.upstream().accept()
            connection.expect(saidUpstream)
            connection.send(fine)
            caller.expect(fine)
            caller.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `bytes pass as they come, in both directions`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "transfer-encoding: chunked", body: "3\r\none\r\n"))
            let upstream = harness.upstream().accept()
            let head = http("POST /p HTTP/1.1", "host: 127.0.0.1:9000", "transfer-encoding: chunked")
            upstream.expect(head + "3\r\none\r\n")
            caller.send("3\r\ntwo\r\n")
            upstream.expect("3\r\ntwo\r\n")
            upstream.send(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "1\r\na\r\n"))
            caller.expect(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "1\r\na\r\n"))
            caller.send("0\r\nx-sum: 6\r\n\r\n")
            upstream.expect("0\r\nx-sum: 6\r\n\r\n")
            upstream.send("1\r\nb\r\n0\r\nx-more: no\r\n\r\n")
            caller.expect("1\r\nb\r\n0\r\nx-more: no\r\n\r\n")
        }
    }

    @Test(arguments: Transport.allCases)
    func `pipelined requests are answered in their order`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(say + get)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.expectNothing()
            upstream.send(fine)
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 204 No Content"))
            caller.expect(fine + http("HTTP/1.1 204 No Content"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `interim responses pass`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 103 Early Hints", "link: </a>"))
            caller.expect(http("HTTP/1.1 103 Early Hints", "link: </a>"))
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response that comes before the whole request is passed on`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 10", body: "12345"))
            let upstream = harness.upstream().accept()
            upstream.expect(http("POST /p HTTP/1.1", "host: 127.0.0.1:9000", "content-length: 10", body: "12345"))
            let response = http("HTTP/1.1 413 Too Much", "content-length: 0")
            upstream.send(response)
            caller.expect(response)
            upstream.expectGone()
            caller.send("67890" + get)
            let next = harness.upstream().accept()
            next.expect(gotUpstream)
            next.send(fine)
            caller.expect(fine)
        }
    }

    @Test func `a response is passed on although the upstream takes no more of the request`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 10", body: "12345"))
            let upstream = harness.upstream().accept()
            upstream.expect(http("POST /p HTTP/1.1", "host: 127.0.0.1:9000", "content-length: 10", body: "12345"))
            // The response and the rest of the body pass each other: writing fails before the response has been read.
            let response = http("HTTP/1.1 413 Too Much", "content-length: 0")
            harness.stopReporting()
            upstream.send(response)
            upstream.rejectMore()
            caller.send("67890")
            harness.startReporting()
            caller.expect(response)
        }
    }

    @Test func `a response that lasts until the close is not whole if the connection is reset while much is sent`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 100000", body: "12345"))
            let upstream = harness.upstream().accept()
            upstream.expect(http("POST /p HTTP/1.1", "host: 127.0.0.1:9000", "content-length: 100000", body: "12345"))
            upstream.send(http("HTTP/1.1 200 OK", body: "half"))
            caller.expect(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "4\r\nhalf\r\n"))
            upstream.resetAtNext()
            caller.send([UInt8](repeating: 0x61, count: 50_000))
            #expect(caller.receiveAll() == [])
            caller.expectGone()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that waits for 100 Continue gets it from us or from the upstream`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "expect: 100-continue", "content-length: 5"))
            let upstream = harness.upstream().accept()
            let head = upstream.head()
            #expect(head.hasPrefix("POST /p HTTP/1.1\r\nhost: 127.0.0.1:9000\r\n"))
            if head.contains("expect: 100-continue") { upstream.send(http("HTTP/1.1 100 Continue")) }
            caller.expect(http("HTTP/1.1 100 Continue"))
            caller.send("hello")
            upstream.expect("hello")
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body may take longer than a head`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: 2", body: "1"))
            let upstream = harness.upstream().accept()
            upstream.expect(http("POST /p HTTP/1.1", "host: 127.0.0.1:9000", "content-length: 2", body: "1"))
            harness.pass(.seconds(60))
            caller.send("2")
            upstream.expect("2")
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller of HTTP 1 point 0 gets a body that ends with the connection`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.0", "host: a"))
            let upstream = harness.upstream().accept()
            upstream.expect(http("GET /p HTTP/1.1", "host: 127.0.0.1:9000"))
            upstream.send(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "2\r\nok\r\n0\r\n\r\n"))
            caller.expect(http("HTTP/1.1 200 OK", "connection: close", body: "ok"))
            caller.expectEnd()
        }
    }
}
