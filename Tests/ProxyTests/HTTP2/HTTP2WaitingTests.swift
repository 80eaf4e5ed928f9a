import HTTP2Kit
import Testing
import Time

/// What comes of a request before there is a connection to send it on.
@Suite struct HTTP2WaitingTests {
    private static let head = "1 HEADERS \(control()) | te: trailers | content-type: application/grpc | x-trace: probe"

    /// The upstream that has got what was sent before it let itself be connected to.
    private func upstream(_ harness: ProxyHarness, _ frames: Frame...) -> HTTP2Peer {
        harness.upstream().behaviour = .hangs
        let caller = harness.http2Caller()
        caller.peer.send(frames.flatMap(\.bytes))
        harness.settle()
        harness.upstream().admit()
        return harness.upstream().acceptHTTP2(in: harness)
    }

    @Test(arguments: Transport.allCases)
    func `a body that has come in part`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            upstream(harness, .say(1, "application/grpc"), .data(1, "half")).expect(Self.head, "1 DATA half")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body that has come whole`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            upstream(harness, .say(1, "application/grpc"), .data(1, "whole", end: true))
                .expect(Self.head, "1 DATA/end whole")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body that is nothing but an end`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let upstream = upstream(harness, .say(1, "application/grpc"), .data(1, end: true))
            let came = upstream.next()
            if came == Self.head { upstream.expect("1 DATA/end ") }
            #expect(came.replacing("HEADERS/end", with: "HEADERS") == Self.head)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body and trailers`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            upstream(harness, .say(1, "application/grpc"), .data(1, "whole"), .headers(1, ["t": "1"], end: true))
                .expect(Self.head, "1 DATA whole", "1 HEADERS/end t: 1")
        }
    }

    @Test(arguments: Transport.allCases)
    func `trailers without a body`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let upstream = upstream(harness, .say(1, "application/grpc"), .headers(1, ["t": "1"], end: true))
            #expect(upstream.rest().filter { $0 != "1 DATA " } == [Self.head, "1 HEADERS/end t: 1"])
        }
    }

    @Test func `the time to the first byte begins when the request has gone out`() {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {default: {url: "h2c://127.0.0.1:9000", timeouts: {connect: 10s, first_byte: 1s}}}
            interceptors: [{probe: {}}]
            """
        for frames in [[Frame.data(1, end: true)], [.headers(1, ["t": "1"], end: true)], [.data(1, "x", end: true)]] {
            runProxy(yaml) { harness in
                harness.upstream().behaviour = .hangs
                let caller = harness.http2Caller()
                caller.peer.send(Frame.say(1, "application/grpc").bytes + frames.flatMap(\.bytes))
                harness.pass(.seconds(5))
                caller.expectNothing()
                harness.upstream().admit()
                _ = harness.upstream().acceptHTTP2(in: harness).next()
                harness.pass(.milliseconds(900))
                caller.expectNothing()
                harness.pass(.milliseconds(200))
                #expect(caller.next().contains("no response within timeouts.first_byte"))
            }
        }
    }
}
