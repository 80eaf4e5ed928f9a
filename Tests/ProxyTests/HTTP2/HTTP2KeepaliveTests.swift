import HTTP2Kit
import Testing

/// How a dead connection to an HTTP/2 upstream is noticed while calls wait on it.
@Suite struct HTTP2KeepaliveTests {
    private static func every(_ interval: String) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "h2c://127.0.0.1:9000", timeouts: {keepalive: \(interval), idle: 1h}}}
        """
    }

    /// A call that the upstream has got.
    private func begin(_ scene: Scene) -> (HTTP2Peer, HTTP2Peer) {
        let caller = scene.http2Caller()
        caller.send(.say(1, "application/grpc", end: true))
        let upstream = scene.upstream().acceptHTTP2(in: scene)
        _ = upstream.next()
        return (caller, upstream)
    }

    @Test(arguments: Stage.allCases)
    func `a connection with calls is asked for a sign of life`(_ stage: Stage) {
        play(stage, Self.every("10s")) { scene in
            let (caller, upstream) = begin(scene)
            for _ in 0..<5 {
                scene.pass(.seconds(9))
                scene.pass(.seconds(2))
                upstream.expect("PING")
                upstream.answerPing()
            }
            upstream.expectNothing()
            caller.expectNothing()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a connection that gives none is ended, and its calls are told`(_ stage: Stage) {
        play(stage, Self.every("10s")) { scene in
            let (caller, upstream) = begin(scene)
            scene.pass(.seconds(11))
            upstream.expect("PING")
            caller.expectNothing()
            scene.pass(.seconds(11))
            #expect(
                caller.next().hasPrefix("1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: 14")
            )
            scene.until { upstream.peer.end != nil }
            #expect(upstream.peer.end != nil)
            caller.send(.say(3, "application/grpc", end: true))
            #expect(scene.upstream().acceptHTTP2(in: scene).next().hasPrefix("1 HEADERS/end "))
        }
    }

    @Test(arguments: Stage.allCases)
    func `there are twenty seconds for a response`(_ stage: Stage) {
        play(stage, Self.every("60s")) { scene in
            let (caller, upstream) = begin(scene)
            scene.pass(.milliseconds(59_900))
            upstream.expectNothing()
            scene.pass(.milliseconds(200))
            upstream.expect("PING")
            scene.pass(.milliseconds(19_800))
            caller.expectNothing()
            upstream.expectNothing()
            scene.pass(.milliseconds(400))
            let head = caller.next()
            #expect(head.hasPrefix("1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: 14 "))
            scene.until { upstream.peer.end != nil }
            #expect(upstream.peer.end != nil)
            caller.expectNothing()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a response that comes late but in time is one`(_ stage: Stage) {
        play(stage, Self.every("60s")) { scene in
            let (caller, upstream) = begin(scene)
            scene.pass(.milliseconds(60_100))
            upstream.expect("PING")
            scene.pass(.milliseconds(19_800))
            upstream.answerPing()
            scene.pass(.milliseconds(400))
            caller.expectNothing()
            upstream.send(.response(1, 200, ["content-type": "application/grpc", "grpc-status": "0"], end: true))
            #expect(caller.next().hasSuffix(" | grpc-status: 0"))
        }
    }

    @Test(arguments: Stage.allCases)
    func `a connection without calls is not asked`(_ stage: Stage) {
        play(stage, Self.every("10s")) { scene in
            let (caller, upstream) = begin(scene)
            upstream.send(.response(1, 200, ["content-type": "application/grpc", "grpc-status": "0"], end: true))
            _ = caller.next()
            for _ in 0..<5 { scene.pass(.seconds(11)) }
            upstream.expectNothing()
        }
    }

    @Test(arguments: Stage.allCases)
    func `no connection is asked where the file says so`(_ stage: Stage) {
        play(stage, Self.every("none")) { scene in
            let (caller, upstream) = begin(scene)
            for _ in 0..<5 { scene.pass(.seconds(1000)) }
            upstream.expectNothing()
            caller.expectNothing()
        }
    }
}
