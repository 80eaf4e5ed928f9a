import HTTP2Kit
import Testing

@testable import Proxy

/// How connections of HTTP/2 callers end with the worker, or with the patience for them.
@Suite struct HTTP2CallerEndTests {
    private static let limited = """
        listeners: [{address: "127.0.0.1:8080", timeouts: {head: 10s, idle: 60s}}]
        upstream: h2c://127.0.0.1:9000
        interceptors: [{metrics: {}}, {probe: {}}]
        """

    private func begin(_ scene: Scene, _ type: String = "application/grpc") -> (HTTP2Peer, HTTP2Peer) {
        let caller = scene.http2Caller()
        caller.send(.say(1, type, end: true))
        let upstream = scene.upstream().acceptHTTP2(in: scene)
        _ = upstream.next()
        return (caller, upstream)
    }

    private func respond(_ upstream: HTTP2Peer, _ stream: Int) {
        upstream.send(.response(stream, 200, ["content-type": "application/grpc", "grpc-status": "0"], end: true))
    }

    @Test(arguments: Stage.allCases)
    func `draining serves what is under way and what was sent before the caller knew`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene)
            scene.worker.drain()
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            caller.send(.say(3, "application/grpc", end: true))
            _ = upstream.next()
            caller.answerPing()
            caller.expect("GOAWAY 3 NO_ERROR")
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            #expect(caller.peer.end == nil)
            respond(upstream, 3)
            #expect(caller.next().hasPrefix("3 HEADERS/end "))
            caller.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a caller of a held listener is sent elsewhere at once, and others when the drain comes`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene)
            scene.worker.announceClose(held: [])
            caller.expectNothing()
            #expect(scene.worker.leavingCount == 0)
            scene.worker.announceClose(held: ["127.0.0.1:8080"])
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            caller.answerPing()
            caller.expect("GOAWAY 1 NO_ERROR")
            #expect(scene.worker.leavingCount == 1)
            let new = scene.http2Caller()
            new.send(.say(1, "application/grpc", end: true))
            _ = upstream.next()
            respond(upstream, 3)
            #expect(new.next().hasPrefix("1 HEADERS/end "))
            new.expectNothing()
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            caller.expectEnd()
            #expect(scene.worker.leavingCount == 0)
            scene.worker.drain()
            new.expect("GOAWAY 1 NO_ERROR")
            new.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `draining lets an idle caller go`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let caller = scene.http2Caller()
            scene.worker.drain()
            caller.expect("GOAWAY 0 NO_ERROR")
            caller.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `draining does not wait long for a caller that says nothing`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene)
            scene.worker.drain()
            _ = caller.rest()
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            scene.pass(.milliseconds(1100))
            #expect(caller.next().hasPrefix("GOAWAY 1 NO_ERROR"))
            caller.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `what is under way when the time to drain is over is told so`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene)
            caller.send(.say(3, "application/json"), .data(3, "{"))
            caller.send(.say(5, "application/grpc", end: true))
            _ = (upstream.next(), upstream.next(), upstream.next())
            upstream.send(.response(5, 200, ["content-type": "application/grpc"]), .data(5, envelope("hi")))
            scene.settle()
            scene.worker.drain()
            scene.worker.abandon()
            let came = caller.rest()
            let status = "grpc-status: 14 | grpc-message: martlet stops, and the time to drain is over"
            #expect(
                came.contains {
                    $0.hasPrefix("1 HEADERS/end :status: 200 | content-type: application/grpc | \(status)")
                }
            )
            #expect(came.contains { $0.hasPrefix("3 HEADERS :status: 503 | content-type: application/json | ") })
            #expect(came.contains { $0.hasPrefix("3 DATA/end {\"code\":\"unavailable\",") })
            #expect(came.contains("5 HEADERS/end \(status)"))
            #expect(came.last == "GOAWAY 5 NO_ERROR" || came.contains("GOAWAY 5 NO_ERROR"))
            scene.until { caller.peer.end != nil }
            #expect(caller.peer.end == .inOrder)
            let resets = Set(upstream.rest())
            #expect(resets == ["1 RST_STREAM CANCEL", "3 RST_STREAM CANCEL", "5 RST_STREAM CANCEL"])
            #expect(scene.livingCalls == 0)
        }
    }

    @Test(arguments: Stage.allCases)
    func `an idle connection is ended when its time is over, and a busy one is not`(_ stage: Stage) {
        play(stage, Self.limited) { scene in
            let (caller, upstream) = begin(scene)
            scene.pass(.seconds(300))
            caller.expectNothing()
            respond(upstream, 1)
            _ = caller.next()
            scene.pass(.seconds(58))
            caller.expectNothing()
            scene.pass(.seconds(3))
            caller.expect("GOAWAY 1 NO_ERROR")
            caller.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `half a preface does not hold a connection for long`(_ stage: Stage) {
        play(stage, Self.limited) { scene in
            let caller = scene.caller()
            caller.send("PRI * HTTP/2.0\r\n")
            scene.pass(.seconds(9))
            caller.expectNothing()
            scene.pass(.seconds(2))
            caller.expectGone()
        }
    }

    @Test(arguments: Stage.allCases)
    func `half a head does not hold a connection for long`(_ stage: Stage) {
        play(stage, Self.limited) { scene in
            let (caller, upstream) = begin(scene)
            caller.send(Frame.say(3, "application/grpc").unfinished)
            scene.pass(.seconds(9))
            caller.expectNothing()
            scene.pass(.seconds(2))
            #expect(caller.next().hasSuffix(" ENHANCE_YOUR_CALM"))
            scene.until { caller.peer.end != nil }
            #expect(caller.peer.end != nil)
            upstream.expect("1 RST_STREAM CANCEL")
            let hits = scene.metrics(#"martlet_h2_limit_hits_total{limit="stalled"}"#)
            #expect(hits.first?.hasSuffix(" 1") == true, "\(hits)")
        }
    }

    @Test(arguments: Stage.allCases)
    func `a reload leaves the calls under way where they are`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene)
            scene.use(http2Plain.replacing(":9000", with: ":9001"))
            caller.send(.say(3, "application/grpc", end: true))
            let other = scene.upstream("127.0.0.1:9001").acceptHTTP2(in: scene)
            _ = other.next()
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            scene.until { upstream.peer.end != nil }
            #expect(upstream.peer.end != nil)
            respond(other, 1)
            #expect(caller.next().hasPrefix("3 HEADERS/end "))
            #expect(scene.worker.liveGenerations == 1)
        }
    }
}
