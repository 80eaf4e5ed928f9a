import HTTP2Kit
import Testing

/// What comes of a request before there is a connection to send it on.
@Suite struct HTTP2WaitingTests {
    private static let head = "1 HEADERS \(control()) | te: trailers | content-type: application/grpc | x-trace: probe"

    /// The upstream that has got what was sent before it let itself be connected to.
    private func upstream(_ scene: Scene, _ frames: Frame...) -> HTTP2Peer {
        scene.upstream().behaviour = .hangs
        let caller = scene.http2Caller()
        caller.peer.send(frames.flatMap(\.bytes))
        scene.settle()
        scene.upstream().admit()
        return scene.upstream().acceptHTTP2(in: scene)
    }

    @Test(arguments: Stage.allCases)
    func `a body that has come in part`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            upstream(scene, .say(1, "application/grpc"), .data(1, "half")).expect(Self.head, "1 DATA half")
        }
    }

    @Test(arguments: Stage.allCases)
    func `a body that has come whole`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            upstream(scene, .say(1, "application/grpc"), .data(1, "whole", end: true))
                .expect(Self.head, "1 DATA/end whole")
        }
    }

    @Test(arguments: Stage.allCases)
    func `a body that is nothing but an end`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let upstream = upstream(scene, .say(1, "application/grpc"), .data(1, end: true))
            let came = upstream.next()
            if came == Self.head { upstream.expect("1 DATA/end ") }
            #expect(came.replacing("HEADERS/end", with: "HEADERS") == Self.head)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a body and trailers`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            upstream(scene, .say(1, "application/grpc"), .data(1, "whole"), .headers(1, ["t": "1"], end: true))
                .expect(Self.head, "1 DATA whole", "1 HEADERS/end t: 1")
        }
    }

    @Test(arguments: Stage.allCases)
    func `trailers without a body`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let upstream = upstream(scene, .say(1, "application/grpc"), .headers(1, ["t": "1"], end: true))
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
            play(yaml) { scene in
                scene.upstream().behaviour = .hangs
                let caller = scene.http2Caller()
                caller.peer.send(Frame.say(1, "application/grpc").bytes + frames.flatMap(\.bytes))
                scene.pass(.seconds(5))
                caller.expectNothing()
                scene.upstream().admit()
                _ = scene.upstream().acceptHTTP2(in: scene).next()
                scene.pass(.milliseconds(900))
                caller.expectNothing()
                scene.pass(.milliseconds(200))
                #expect(caller.next().contains("no response within timeouts.first_byte"))
            }
        }
    }
}
