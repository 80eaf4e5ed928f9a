import HTTP2Kit
import Testing

/// What becomes of a call whose caller does not want it any more.
@Suite struct HTTP2CancelTests {
    private func begin(_ harness: ProxyHarness, end: Bool) -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        caller.send(.say(1, "application/grpc"), .data(1, envelope("hi"), end: end))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = (upstream.next(), upstream.next())
        return (caller, upstream)
    }

    private func expectCanceled(_ harness: ProxyHarness, sourceLocation: SourceLocation = #_sourceLocation) {
        harness.settle()
        let ends = harness.eventLog.drain().filter { $0.contains("finished") }
        #expect(ends == ["probe finished canceled by caller"], sourceLocation: sourceLocation)
        #expect(harness.livingCalls == 0, sourceLocation: sourceLocation)
    }

    @Test(arguments: Transport.allCases, [true, false])
    func `a caller's reset goes on to the upstream`(_ transport: Transport, _ end: Bool) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: end)
            caller.send(.reset(1, .cancel))
            upstream.expect("1 RST_STREAM CANCEL")
            caller.expectNothing()
            expectCanceled(harness)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a reset in the middle of the response goes on to the upstream`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: true)
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, envelope("a")))
            _ = (caller.next(), caller.next())
            caller.send(.reset(1, .cancel))
            upstream.expect("1 RST_STREAM CANCEL")
            upstream.send(.data(1, envelope("late")), .headers(1, ["grpc-status": "0"], end: true))
            caller.expectNothing()
            expectCanceled(harness)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that goes cancels all its calls`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: false)
            caller.send(.say(3, "application/grpc", end: true))
            _ = upstream.next()
            caller.peer.close()
            let came = Set((0..<2).map { _ in upstream.next() })
            #expect(came == ["1 RST_STREAM CANCEL", "3 RST_STREAM CANCEL"])
            harness.settle()
            #expect(harness.livingCalls == 0)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an HTTP 1 caller that goes resets the stream`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /a.B/C HTTP/1.1", "host: a", "content-length: 10", body: "half"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            caller.reset()
            upstream.expect("1 RST_STREAM CANCEL")
            expectCanceled(harness)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller's reset closes the connection of an HTTP 1 upstream`(_ transport: Transport) {
        runProxy(transport, plain + "\ninterceptors: [{probe: {}}]") { harness in
            let caller = harness.http2Caller()
            caller.send(.request(1, "GET", "/p", end: true))
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            caller.send(.reset(1, .cancel))
            upstream.expectGone()
            expectCanceled(harness)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that is reset as it begins never gets to an upstream`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            // The connection is there already, so that the request is ready to go out with the turn.
            let (caller, upstream) = begin(harness, end: true)
            for stream in stride(from: 3, to: 60, by: 2) {
                caller.send(.say(stream, "application/grpc"), .reset(stream, .cancel))
            }
            upstream.expectNothing()
            caller.send(.reset(1, .cancel))
            upstream.expect("1 RST_STREAM CANCEL")
            harness.settle()
            #expect(harness.livingCalls == 0)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that is reset while it waits for a connection waits no more`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"), .data(1, envelope("hi")))
            harness.settle()
            caller.send(.reset(1, .cancel))
            expectCanceled(harness)
            caller.expectNothing()
        }
    }

    @Test(arguments: ["http", "h2c"])
    func `calls that are reset as they begin cost the upstream no connection`(_ scheme: String) {
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: \(scheme)://127.0.0.1:9000
            """
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            let streams = stride(from: 1, to: 1801, by: 2)
            let flood = streams.flatMap { Frame.get($0, "/p").bytes + Frame.reset($0, .cancel).bytes }
            caller.peer.send(flood)
            harness.settle()
            #expect(harness.livingCalls == 0)
            #expect(harness.upstream().connects <= 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a stream that breaks the protocol in the middle cancels its call`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("content-length", "3")), .data(1, "{}"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            caller.send(.data(1, "too much"))
            caller.expect("1 RST_STREAM PROTOCOL_ERROR")
            upstream.expect("1 RST_STREAM CANCEL")
            expectCanceled(harness)
        }
    }
}
