import HTTP2Kit
import Testing

/// Messages that are looked at, replaced and dropped on their way.
@Suite struct MessageCallTests {
    private static func http1(_ items: String...) -> String {
        plain + "\ninterceptors: [{metrics: {}}, \(items.joined(separator: ", "))]\n"
    }

    private static func http2(_ item: String) -> String {
        http1(item).replacing("http://", with: "h2c://")
    }

    private static let grpc: Frame.Fields = ["content-type": "application/grpc"]

    /// A call of gRPC with these messages.
    private func call(_ harness: ProxyHarness, _ messages: String...) -> HTTP2Peer {
        let caller = harness.http2Caller()
        caller.send(.say(1, "application/grpc"), .data(1, messages.map { envelope($0) }.joined(), end: true))
        return caller
    }

    /// The bodies of all DATA that have come, joined.
    private func body(_ peer: HTTP2Peer) -> String {
        _ = peer.rest()
        return peer.frames.filter { $0.kind == .data }.map { $0.payload.latin1 }.joined()
    }

    @Test(arguments: Transport.allCases)
    func `each message of a request is replaced`(_ transport: Transport) {
        runProxy(transport, Self.http2("{message: {on: request, replace: {hex: 6869 21}}}")) { harness in
            let caller = call(harness, "hello", "there")
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(body(upstream) == envelope("hi!") + envelope("hi!"))
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("kept")))
            #expect(body(caller) == envelope("kept"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `the length of a bare message fits what it is replaced by`(_ transport: Transport) {
        runProxy(transport, Self.http1("{message: {on: response, replace: {json: {sentence: hi}}}}")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(fine)
            let head = caller.head()
            #expect(head.contains("content-length: 17\r\n") || head.contains("transfer-encoding"), "\(head)")
            #expect(String(decoding: caller.receiveAll(), as: UTF8.self).contains(#"{"sentence":"hi"}"#))
        }
    }

    @Test(arguments: Transport.allCases)
    func `no length is reported of a body whose messages are replaced`(_ transport: Transport) {
        let items = ["request", "response"].map { "{message: {on: \($0), replace: {text: longer}}}" }
        runProxy(transport, Self.http1(items[0], items[1])) { harness in
            let type = "content-type: application/grpc-web"
            let caller = harness.caller()
            let request = envelope("one")
            caller.send(http("POST /s/m HTTP/1.1", "host: a", type, "content-length: 8", body: request))
            let upstream = harness.upstream().accept()
            #expect(!upstream.head().contains("content-length"))
            upstream.expect("5\r\n\0\0\0\0\u{6}\r\n6\r\nlonger\r\n0\r\n\r\n")
            upstream.send(http("HTTP/1.1 200 OK", type, "content-length: 8", body: envelope("one")))
            #expect(!caller.head().contains("content-length"))
            caller.expect("5\r\n\0\0\0\0\u{6}\r\n6\r\nlonger\r\n0\r\n\r\n")
        }
    }

    @Test(arguments: Transport.allCases)
    func `dropped messages go no further`(_ transport: Transport) {
        runProxy(transport, Self.http2("{message: {on: response, drop: true}}")) { harness in
            let caller = call(harness, "hello")
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("one") + envelope("two")))
            upstream.send(.headers(1, ["grpc-status": "0"], end: true))
            _ = caller.next()
            caller.expect("1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a bare message that is not as required gets nowhere`(_ transport: Transport) {
        runProxy(transport, Self.http1("{message: {on: request, require: {json: {/sentence: present}}}}")) { harness in
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            let text = "message 1 of the request does not have the required value at /sentence"
            caller.expect(#"{"code":"invalid_argument","message":"\#(text)"}"#)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a message of a response that is not as required ends it, behind those before`(_ transport: Transport) {
        let options = "on: response, require: {max: 3}, text: too long"
        runProxy(transport, Self.http2("{message: {\(options)}}")) { harness in
            let caller = call(harness, "hello")
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("one")))
            _ = caller.next()
            caller.expect("1 DATA \(envelope("one"))")
            upstream.send(.data(1, envelope("four")))
            caller.expect("1 HEADERS/end grpc-status: 13 | grpc-message: too long")
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `messages are written down as they come, without what is redacted`(_ transport: Transport) {
        let log = TemporaryLog()
        let tee = "{message: {on: request, tee: \(log.path), tee_limit: 24B, replace: {text: x}}}"
        runProxy(transport, Self.http1(tee, "{redact: {json: /pin}}").replacing("http://", with: "h2c://")) { harness in
            _ = call(harness, #"{"pin":1234}"#, "no JSON: 1234", #"{"more":"than there is room for","pin":1234}"#)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(body(upstream) == envelope("x") + envelope("x") + envelope("x"))
        }
        #expect(log.lines.count == 3)
        #expect(log.lines.allSatisfy { $0.contains(#"Z","call":""#) && $0.contains(#"","direction":"request","#) })
        #expect(log.lines[0].hasSuffix(#","number":1,"bytes":12,"payload":"{\"pin\":\"***\"}"}"#))
        #expect(log.lines[1].hasSuffix(#","number":2,"bytes":13,"payload":null}"#))
        #expect(log.lines[2].hasSuffix(#","bytes":44,"payload":"{\"more\":\"than there is r","truncated":true}"#))
    }
}
