import HTTP2Kit
import Testing

/// Calls between callers and upstreams that speak HTTP/1.1 or HTTP/2.
@Suite struct HTTP2ForwardingTests {
    private static let message = envelope("hello")
    private static let response = envelope("hi, you")

    @Test(arguments: Transport.allCases)
    func `gRPC passes as it is`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", ("x-a", "b")), .data(1, Self.message, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let fields = "te: trailers | content-type: application/grpc | x-a: b | x-trace: probe"
            upstream.expect("1 HEADERS \(control()) | \(fields)", "1 DATA/end \(Self.message)")
            upstream.send(.response(1, 200, ["content-type": "application/grpc", "x-c": "d"]), .data(1, Self.response))
            caller.expect(
                "1 HEADERS :status: 200 | content-type: application/grpc | x-c: d | x-trace: probe",
                "1 DATA \(Self.response)"
            )
            upstream.send(.headers(1, ["grpc-status": "0", "x-t": "u"], end: true))
            caller.expect("1 HEADERS/end grpc-status: 0 | x-t: u")
            caller.expectNothing()
            upstream.expectNothing()
            #expect(
                harness.eventLog.drain() == [
                    "probe request", "probe response", "probe trailers", "probe finished ok by upstream",
                ]
            )
        }
    }

    @Test(arguments: Transport.allCases)
    func `gRPC without a body in the response passes as one head`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+proto"), .data(1, Self.message, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            let fields: Frame.Fields = [
                "content-type": "application/grpc+proto", "grpc-status": "5", "grpc-message": "no such thing",
            ]
            upstream.send(.response(1, 200, fields, end: true))
            let head = ":status: 200 | content-type: application/grpc+proto | grpc-status: 5"
            caller.expect("1 HEADERS/end \(head) | grpc-message: no such thing | x-trace: probe")
            harness.settle()
            #expect(harness.eventLog.drain().last == "probe finished not_found by upstream")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a stream of messages passes both ways at once`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]))
            _ = caller.next()
            for number in 0..<20 {
                caller.send(.data(1, envelope("ping \(number)")))
                upstream.expect("1 DATA \(envelope("ping \(number)"))")
                upstream.send(.data(1, envelope("pong \(number)")))
                caller.expect("1 DATA \(envelope("pong \(number)"))")
            }
            caller.send(.data(1, end: true))
            upstream.expect("1 DATA/end ")
            upstream.send(.headers(1, ["grpc-status": "0"], end: true))
            caller.expect("1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: Transport.allCases)
    func `an HTTP 1 caller reaches an HTTP 2 upstream`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let fields = "content-type: application/json | x-trace: probe | content-length: 2"
            upstream.expect("1 HEADERS \(control()) | \(fields)", "1 DATA/end {}")
            upstream.send(.response(1, 200, ["content-type": "application/json"]), .data(1, "{}", end: true))
            #expect(
                caller.head()
                    == http(
                        "HTTP/1.1 200 OK",
                        "content-type: application/json",
                        "x-trace: probe",
                        "transfer-encoding: chunked"
                    )
            )
            caller.expect("2\r\n{}\r\n0\r\n\r\n")
            caller.send(get)
            upstream.expect("3 HEADERS/end \(control("GET", "/pkg.Service/Look")) | x-trace: probe")
            upstream.send(.response(3, 204, end: true))
            #expect(caller.head() == http("HTTP/1.1 204 No Content", "x-trace: probe"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `an HTTP 2 caller reaches an HTTP 1 upstream`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("content-length", "2")), .data(1, "{}", end: true))
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(http("HTTP/1.1 200 Fine", "connection: keep-alive", "content-length: 2", "x: y", body: "ok"))
            caller.expect("1 HEADERS :status: 200 | x: y | content-length: 2", "1 DATA/end ok")
            caller.send(.say(3, "application/json"), .data(3, "{"), .data(3, "}", end: true))
            let chunked = ["content-type: application/json", "transfer-encoding: chunked"]
            #expect(
                upstream.head()
                    == http("POST /pkg.Service/Say HTTP/1.1", "host: 127.0.0.1:9000", chunked[0], chunked[1])
            )
            upstream.expect("1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
            upstream.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nt: 1\r\n\r\n")
            caller.expect("3 HEADERS :status: 200", "3 DATA ok", "3 HEADERS/end t: 1")
        }
    }

    @Test(arguments: Transport.allCases)
    func `gRPC-Web keeps its trailers in the body`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.caller()
            let body = String(decoding: Self.message.latin1, as: UTF8.self)
            let type = "content-type: application/grpc-web+proto"
            caller.send(http("POST /pkg.Service/Say HTTP/1.1", "host: a", type, "content-length: 10", body: body))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            upstream.expect(
                "1 HEADERS \(control()) | \(type) | x-trace: probe | content-length: 10",
                "1 DATA/end \(Self.message)"
            )
            let end = envelope("grpc-status: 7\r\n", flags: 0x80)
            upstream.send(.response(1, 200, ["content-type": "application/grpc-web+proto"]), .data(1, end, end: true))
            _ = caller.head()
            caller.expect(Array("15\r\n".utf8) + end.latin1 + Array("\r\n0\r\n\r\n".utf8))
            harness.settle()
            #expect(harness.eventLog.drain().last == "probe finished permission_denied by upstream")
        }
    }

    @Test(arguments: Transport.allCases)
    func `gRPC over HTTP 1 has its trailers behind the chunks`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.caller()
            let fields = ["content-type: application/grpc", "te: trailers", "content-length: 5"]
            caller.send("POST /pkg.Service/Say HTTP/1.1\r\nhost: a\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n")
            caller.send([0, 0, 0, 0, 0])
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().contains(" | te: trailers | content-type: application/grpc | "))
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, envelope("")))
            upstream.send(.headers(1, ["grpc-status": "0"], end: true))
            #expect(caller.head().contains("\r\ntransfer-encoding: chunked\r\n"))
            caller.expect("5\r\n\0\0\0\0\0\r\n0\r\ngrpc-status: 0\r\n\r\n")
        }
    }

    @Test(arguments: Transport.allCases)
    func `interim responses and expectations pass`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain", ("expect", "100-continue")))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            upstream.expect("1 HEADERS \(control()) | expect: 100-continue | content-type: text/plain | x-trace: probe")
            upstream.send(.response(1, 100), .response(1, 103, ["link": "x"]))
            caller.expect("1 HEADERS :status: 100", "1 HEADERS :status: 103 | link: x")
            caller.send(.data(1, "hi", end: true))
            upstream.expect("1 DATA/end hi")
            upstream.send(.response(1, 200, ["content-length": "0"], end: true))
            caller.expect("1 HEADERS/end :status: 200 | x-trace: probe | content-length: 0")
        }
    }

    @Test(arguments: Transport.allCases)
    func `split cookies are one field for an HTTP 1 upstream`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain", ("cookie", "a=1"), ("cookie", "b=2"), end: true))
            #expect(harness.upstream().accept().head().contains("\r\ncookie: a=1; b=2\r\n"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `calls of one caller share its connection and that of the upstream`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            for stream in stride(from: 1, to: 100, by: 2) {
                caller.send(.request(stream, "POST", "/\(stream)"), .data(stream, "q\(stream)", end: true))
            }
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            harness.settle()
            for stream in stride(from: 1, to: 100, by: 2).reversed() {
                upstream.send(.response(stream), .data(stream, "a", end: true))
            }
            let sent = upstream.rest()
            for stream in stride(from: 1, to: 100, by: 2) {
                #expect(sent.contains("\(stream) DATA/end q\(stream)"))
            }
            let came = caller.rest()
            #expect(came.filter { $0.hasSuffix("DATA/end a") }.count == 50)
            #expect(harness.upstream().connects == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `gRPC to an upstream that speaks only HTTP 1 is rejected in words`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            let head = caller.next()
            #expect(head.hasPrefix("1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: 12 | "))
            #expect(head.contains("gRPC needs HTTP/2"))
            harness.upstream().expectNobody()
        }
    }
}
