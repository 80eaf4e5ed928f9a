import Events
import HTTP2Kit
import Testing

/// Fields of messages that their types do not have, where messages are converted.
@Suite struct UnknownFieldTests {
    private let configuration = """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: grpc, codecs: [proto]}}
        types: {files: ["\(TestTypes.path)"], unknown_fields: drop}
        """

    private func counted(_ harness: ProxyHarness) -> [String] {
        harness.metrics("martlet_unknown_fields_total").map {
            String($0.dropFirst("martlet_unknown_fields_total".count))
        }
    }

    private func call(_ json: String, _ response: String, _ id: Int, _ caller: HTTP2Peer, _ upstream: HTTP2Peer) {
        caller.send(.say(id, "application/json"), .data(id, json, end: true))
        #expect(upstream.next().hasPrefix("\(id) HEADERS"))
        #expect(upstream.next().hasPrefix("\(id) DATA/end"))
        upstream.send(.response(id, 200, ["content-type": "application/grpc+proto"]), .data(id, envelope(response)))
        upstream.send(.headers(id, ["grpc-status": "0"], end: true))
        #expect(caller.next().hasPrefix("\(id) HEADERS"))
    }

    @Test func `they are counted, and the log has each method once`() {
        runProxy(configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json"), .data(1, #"{"a":1,"inner":{"b":{},"name":"x"}}"#, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.expect("1 DATA/end \(envelope("\u{1a}\u{3}\n\u{1}x"))")
            // The fields 15 and 14, and 15 in the field `inner`.
            let response = "z\u{1}a" + "r\u{1}b" + "\u{1a}\u{3}z\u{1}c"
            upstream.send(.response(1, 200, ["content-type": "application/grpc+proto"]), .data(1, envelope(response)))
            upstream.send(.headers(1, ["grpc-status": "0"], end: true))
            #expect(caller.next().hasPrefix("1 HEADERS"))
            caller.expect(#"1 DATA/end {"inner":{}}"#)
            #expect(counted(harness) == [#"{direction="request"} 2"#, #"{direction="response"} 3"#])
            call(#"{"a":1}"#, "z\u{1}a", 3, caller, upstream)
            #expect(counted(harness) == [#"{direction="request"} 3"#, #"{direction="response"} 4"#])
            #expect(
                harness.messages.withLock { $0 } == [
                    "fields left out of a request message: their type does not have them "
                        + "method=/pkg.Service/Say type=pkg.M fields=2",
                    "fields left out of a response message: their type does not have them "
                        + "method=/pkg.Service/Say type=pkg.M fields=3",
                ]
            )
        }
    }

    @Test func `a message that loses nothing counts nothing`() {
        runProxy(configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json"), .data(1, #"{"a":1}"#, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            caller.send(.say(3, "application/json"), .data(3, #"{"name":"x"}"#, end: true))
            _ = (upstream.next(), upstream.next())
            #expect(counted(harness) == [#"{direction="request"} 1"#, #"{direction="response"} 0"#])
        }
    }
}
