import HTTP2Kit
import Testing

/// What becomes of a call whose caller does not want it any more.
@Suite struct HTTP2CancelTests {
    private func begin(_ scene: Scene, end: Bool) -> (HTTP2Peer, HTTP2Peer) {
        let caller = scene.http2Caller()
        caller.send(.say(1, "application/grpc"), .data(1, envelope("hi"), end: end))
        let upstream = scene.upstream().acceptHTTP2(in: scene)
        _ = (upstream.next(), upstream.next())
        return (caller, upstream)
    }

    private func expectCanceled(_ scene: Scene, sourceLocation: SourceLocation = #_sourceLocation) {
        scene.settle()
        let ends = scene.diary.take().filter { $0.contains("finished") }
        #expect(ends == ["probe finished canceled by caller"], sourceLocation: sourceLocation)
        #expect(scene.livingCalls == 0, sourceLocation: sourceLocation)
    }

    @Test(arguments: Stage.allCases, [true, false])
    func `a caller's reset goes on to the upstream`(_ stage: Stage, _ end: Bool) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, end: end)
            caller.send(.reset(1, .cancel))
            upstream.expect("1 RST_STREAM CANCEL")
            caller.expectNothing()
            expectCanceled(scene)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a reset in the middle of the response goes on to the upstream`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, end: true)
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, envelope("a")))
            _ = (caller.next(), caller.next())
            caller.send(.reset(1, .cancel))
            upstream.expect("1 RST_STREAM CANCEL")
            upstream.send(.data(1, envelope("late")), .headers(1, ["grpc-status": "0"], end: true))
            caller.expectNothing()
            expectCanceled(scene)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a caller that goes cancels all its calls`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, end: false)
            caller.send(.say(3, "application/grpc", end: true))
            _ = upstream.next()
            caller.peer.close()
            let came = Set((0..<2).map { _ in upstream.next() })
            #expect(came == ["1 RST_STREAM CANCEL", "3 RST_STREAM CANCEL"])
            scene.settle()
            #expect(scene.livingCalls == 0)
        }
    }

    @Test(arguments: Stage.allCases)
    func `an HTTP 1 caller that goes resets the stream`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let caller = scene.caller()
            caller.send(http("POST /a.B/C HTTP/1.1", "host: a", "content-length: 10", body: "half"))
            let upstream = scene.upstream().acceptHTTP2(in: scene)
            _ = (upstream.next(), upstream.next())
            caller.reset()
            upstream.expect("1 RST_STREAM CANCEL")
            expectCanceled(scene)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a caller's reset closes the connection of an HTTP 1 upstream`(_ stage: Stage) {
        play(stage, plain + "\ninterceptors: [{probe: {}}]") { scene in
            let caller = scene.http2Caller()
            caller.send(.request(1, "GET", "/p", end: true))
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            caller.send(.reset(1, .cancel))
            upstream.expectGone()
            expectCanceled(scene)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a call that is reset as it begins never gets to an upstream`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            // The connection is there already, so that the request is ready to go out with the turn.
            let (caller, upstream) = begin(scene, end: true)
            for stream in stride(from: 3, to: 60, by: 2) {
                caller.send(.say(stream, "application/grpc"), .reset(stream, .cancel))
            }
            upstream.expectNothing()
            caller.send(.reset(1, .cancel))
            upstream.expect("1 RST_STREAM CANCEL")
            scene.settle()
            #expect(scene.livingCalls == 0)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a call that is reset while it waits for a connection waits no more`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.http2Caller()
            caller.send(.say(1, "application/grpc"), .data(1, envelope("hi")))
            scene.settle()
            caller.send(.reset(1, .cancel))
            expectCanceled(scene)
            caller.expectNothing()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a stream that breaks the protocol in the middle cancels its call`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let caller = scene.http2Caller()
            caller.send(.say(1, "application/json", ("content-length", "3")), .data(1, "{}"))
            let upstream = scene.upstream().acceptHTTP2(in: scene)
            _ = (upstream.next(), upstream.next())
            caller.send(.data(1, "too much"))
            caller.expect("1 RST_STREAM PROTOCOL_ERROR")
            upstream.expect("1 RST_STREAM CANCEL")
            expectCanceled(scene)
        }
    }
}
