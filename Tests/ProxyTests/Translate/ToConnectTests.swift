import HTTP
import HTTP2Kit
import RPC
import Testing

@testable import Proxy

/// Calls in gRPC and gRPC-Web whose upstream speaks Connect, byte by byte.
@Suite struct ToConnectTests {
    private static let configuration = """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off, limits: {held_message: 200B}}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: connect}}
        interceptors: [{metrics: {}}]
        types: {files: ["\(TestTypes.path)"]}
        """
    private static let head = ":status: 200 | content-type: application/grpc+json"
    private static let json: Frame.Fields = ["content-type": "application/json"]

    private func talk(_ stream: Int) -> Frame {
        .headers(
            stream,
            [
                ":method": "POST", ":scheme": "http", ":authority": "app", ":path": "/pkg.Service/Talk",
                "content-type": "application/grpc+json", "te": "trailers",
            ]
        )
    }

    private func begin(_ harness: ProxyHarness, _ frames: Frame...) -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        for frame in frames { caller.send(frame) }
        return (caller, harness.upstream().acceptHTTP2(in: harness))
    }

    private func unary(_ harness: ProxyHarness, _ message: String = "{}") -> (HTTP2Peer, HTTP2Peer) {
        let (caller, upstream) = begin(
            harness,
            .say(1, "application/grpc+json", ("grpc-timeout", "1S")),
            .data(1, envelope(message), end: true)
        )
        let fields = "content-type: application/json | connect-timeout-ms: 1000 | connect-protocol-version: 1"
        upstream.expect("1 HEADERS \(control()) | \(fields) | content-length: \(message.utf8.count)")
        return (caller, upstream)
    }

    @Test(arguments: Transport.allCases)
    func `a unary call has a bare message each way`(_ transport: Transport) {
        runProxy(transport, Self.configuration) { harness in
            let (caller, upstream) = unary(harness)
            upstream.expect("1 DATA/end {}")
            upstream.send(.response(1, 200, ["content-type": "application/json", "x-a": "1", "trailer-x-b": "2"]))
            upstream.send(.data(1, "[1"), .data(1, "]", end: true))
            caller.expect("1 HEADERS \(Self.head) | x-a: 1")
            caller.expect("1 DATA \(envelope("[1]"))")
            caller.expect("1 HEADERS/end x-b: 2 | grpc-status: 0")
            #expect(
                harness.metrics(#"martlet_translated_total{from="grpc",to="connect"}"#).first?.hasSuffix(" 1") == true
            )
        }
    }

    @Test func `a message without bytes is one`() {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = unary(harness, "")
            #expect(upstream.next().hasPrefix("1 DATA/end"))
            upstream.send(.response(1, 200, Self.json, end: true))
            caller.expect("1 HEADERS \(Self.head)")
            caller.expect("1 DATA \(envelope(""))")
            caller.expect("1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: [
        (
            #"{"code":"not_found","message":"no \u2603","details":[{"type":"a.B","value":"AQI"}]}"#, 404, ["x-b: 2"],
            ["grpc-status: 5", "grpc-message: no %E2%98%83"]
        ),
        ("{}", 503, ["x-b: 2"], ["grpc-status: 14"]), ("<html>", 502, ["x-b: 2"], ["grpc-status: 14"]),
        (#"{"code":"ok"}"#, 400, ["x-b: 2"], ["grpc-status: 13"]), ("", 429, ["x-b: 2"], ["grpc-status: 14"]),
    ])
    func `an error says in JSON what it is`(_ body: String, _ status: Int, _ trailers: [String], _ fields: [String]) {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = unary(harness)
            upstream.expect("1 DATA/end {}")
            upstream.send(.response(1, status, ["content-type": "application/json", "trailer-x-b": "2"]))
            upstream.send(.data(1, body, end: true))
            let head = caller.next()
            #expect(head.hasPrefix("1 HEADERS/end \(Self.head)"), "\(head)")
            for field in trailers + fields { #expect(head.contains(field), "\(head)") }
            #expect(head.contains("grpc-status-details-bin: ") == body.contains("details"))
            #expect(!head.contains("trailer-"))
        }
    }

    @Test func `a message that is too large to be held is an error`() {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = unary(harness)
            upstream.expect("1 DATA/end {}")
            upstream.send(.response(1, 200, Self.json), .data(1, String(repeating: "x", count: 201)))
            #expect(caller.next().contains("grpc-status: 8"))
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: [
        ([envelope("{}") + envelope("{}")], "grpc-status: 12"), ([], "grpc-status: 12"),
        ([String(envelope("{}").dropLast())], "grpc-status: 3"),
    ])
    func `a request with another number of messages is an error`(_ bodies: [String], _ field: String) {
        runProxy(Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"))
            for body in bodies { caller.send(.data(1, body)) }
            _ = harness.upstream().acceptHTTP2(in: harness)
            caller.send(.data(1, "", end: true))
            let head = caller.next()
            #expect(head.hasPrefix("1 HEADERS/end ") && head.contains(field), "\(head)")
        }
    }

    @Test func `a connection that closes before the message has come fails no call`() {
        runProxy(Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"))
            let first = harness.upstream().acceptHTTP2(in: harness)
            harness.settle()
            first.peer.close()
            harness.settle()
            caller.send(.data(1, envelope("{}"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().hasPrefix("1 HEADERS "))
            upstream.expect("1 DATA/end {}")
            upstream.send(.response(1, 200, Self.json), .data(1, "[]", end: true))
            caller.expect("1 HEADERS \(Self.head)")
            caller.expect("1 DATA \(envelope("[]"))")
            caller.expect("1 HEADERS/end grpc-status: 0")
        }
    }

    @Test func `a stream keeps its envelopes, and its end becomes trailers`() {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = begin(harness, talk(1), .data(1, envelope("{}")))
            #expect(upstream.next().contains("content-type: application/connect+json"))
            upstream.expect("1 DATA \(envelope("{}"))")
            upstream.send(.response(1, 200, ["content-type": "application/connect+json"]), .data(1, envelope("[1]")))
            caller.expect("1 HEADERS \(Self.head)")
            caller.expect("1 DATA \(envelope("[1]"))")
            let end = #"{"error":{"code":"aborted","message":"no"},"metadata":{"X-A":["1","2"],"b":["c"]}}"#
            upstream.send(.data(1, envelope(end, flags: 2), end: true))
            caller.expect("1 HEADERS/end x-a: 1 | x-a: 2 | b: c | grpc-status: 10 | grpc-message: no")
        }
    }

    @Test func `metadata that is no field is left out`() {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = begin(harness, talk(1), .data(1, envelope("{}"), end: true))
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, ["content-type": "application/connect+json"]))
            caller.expect("1 HEADERS \(Self.head)")
            let bad = #""a b":["1"],"x":["1\r\ny: 2",3],"grpc-status":["7"],":path":["/"],"":["1"],"ok":["1"],"z":"1""#
            upstream.send(.data(1, envelope("{\"metadata\":{\(bad)}}", flags: 2), end: true))
            caller.expect("1 HEADERS/end ok: 1 | grpc-status: 0")
        }
    }

    @Test func `fields of the other protocol and of messages are not passed on`() {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = unary(harness)
            upstream.expect("1 DATA/end {}")
            let fields: Frame.Fields = [
                "content-type": "application/json", "grpc-status": "7", "grpc-message": "x",
                "trailer-connection": "close",
                "trailer-content-length": "3", "trailer-x": "1",
            ]
            upstream.send(.response(1, 200, fields), .data(1, "[]", end: true))
            caller.expect("1 HEADERS \(Self.head)")
            caller.expect("1 DATA \(envelope("[]"))")
            caller.expect("1 HEADERS/end x: 1 | grpc-status: 0")
        }
    }

    @Test func `a long error keeps its code`() {
        let configuration = Self.configuration.replacing("held_message: 200B", with: "held_message: 1MiB")
        runProxy(configuration) { harness in
            let (caller, upstream) = begin(
                harness,
                .say(1, "application/grpc+json"),
                .data(1, envelope("{}"), end: true)
            )
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 404, Self.json))
            let half = String(repeating: "x", count: 15_000)
            upstream.send(
                .data(1, #"{"code":"not_found","message":""# + half),
                .data(1, half),
                .data(1, #""}"#, end: true)
            )
            let head = caller.next()
            #expect(head.contains("grpc-status: 5") && head.utf8.count < 10_000)
        }
    }

    @Test func `more trailers than a head may have are an error`() throws {
        let few = HTTPHead()
        try few.add(foreign: [(Array("x".utf8), Array("1".utf8)), (Array("te".utf8), Array("a".utf8))])
        #expect(few.pairs.map(\.name) == [Array("x".utf8)])
        let many = (0..<10_000).map { (name: Array("x-\($0)".utf8), value: Array("v".utf8)) }
        #expect(throws: RPCError.self) { try HTTPHead().add(foreign: many) }
    }

    @Test(arguments: [
        "", envelope("{}", flags: 2) + "x", envelope("[", flags: 2), envelope("[]"), envelope("[]", flags: 2),
    ])
    func `a stream without a sound end is an error`(_ body: String) {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = begin(harness, talk(1), .data(1, envelope("{}"), end: true))
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, ["content-type": "application/connect+json"]), .data(1, body, end: true))
            var last = ""
            for _ in 0..<3 where !last.contains("/end") && !last.contains("RST") { last = caller.next() }
            #expect(!last.contains("grpc-status: 0") && !last.isEmpty, "\(last)")
        }
    }

    @Test func `a method that no file has is unimplemented`() {
        runProxy(Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(
                .headers(
                    1,
                    [
                        ":method": "POST", ":scheme": "http", ":authority": "app", ":path": "/pkg.Service/Shout",
                        "content-type": "application/grpc+json", "te": "trailers",
                    ],
                    end: true
                )
            )
            let head = caller.next()
            #expect(head.contains("grpc-status: 12") && head.contains("does not know the types"), "\(head)")
            harness.upstream().expectNobody()
        }
    }
}
