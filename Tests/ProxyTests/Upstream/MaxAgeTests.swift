import Testing

/// The greatest age of connections to an upstream; 10 % of it is up to chance.
@Suite struct MaxAgeTests {
    private static func upstream(_ url: String, _ options: String = "") -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "\(url)", timeouts: {idle: none, keepalive: none, max_age: 100s}\(options)}}
        """
    }

    private func call(_ caller: ScriptedPeer, _ upstream: ScriptedPeer) {
        caller.send(get)
        upstream.expect(gotUpstream)
        upstream.send(fine)
        caller.expect(fine)
    }

    @Test(arguments: Stage.allCases)
    func `an idle connection is closed at its age, and the next call has another`(_ stage: Stage) {
        play(stage, Self.upstream("http://127.0.0.1:9000")) { scene in
            let caller = scene.caller()
            caller.send(get)
            let first = scene.upstream().accept()
            first.expect(gotUpstream)
            first.send(fine)
            caller.expect(fine)
            scene.pass(.seconds(89))
            call(caller, first)
            scene.pass(.seconds(12))
            first.expectEnd()
            caller.send(get)
            scene.upstream().accept().expect(gotUpstream)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a call that is under way at that age ends well, and its connection with it`(_ stage: Stage) {
        play(stage, Self.upstream("http://127.0.0.1:9000")) { scene in
            let caller = scene.caller()
            caller.send(get)
            let upstream = scene.upstream().accept()
            upstream.expect(gotUpstream)
            scene.pass(.seconds(500))
            upstream.expectNothing()
            upstream.send(fine)
            caller.expect(fine)
            upstream.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `an old address is left within the age after a change of DNS`(_ stage: Stage) {
        play(stage, Self.upstream("http://app.example:9000")) { scene in
            scene.know(["192.0.2.1:9000"], as: "default")
            let caller = scene.caller()
            let request = http("GET /pkg.Service/Look HTTP/1.1", "host: app.example:9000")
            func call(_ upstream: ScriptedPeer) {
                upstream.expect(request)
                upstream.send(fine)
                caller.expect(fine)
            }
            caller.send(get)
            let old = scene.upstream("192.0.2.1:9000").accept()
            call(old)
            scene.know(["192.0.2.2:9000"], as: "default")
            // The connection is in use now and then, and would last for ever.
            for _ in 0..<8 {
                scene.pass(.seconds(11))
                caller.send(get)
                call(old)
            }
            scene.pass(.seconds(13))
            caller.send(get)
            call(scene.upstream("192.0.2.2:9000").accept())
            #expect(scene.upstream("192.0.2.1:9000").connects == 1)
        }
    }

    @Test(arguments: Stage.allCases)
    func `an old HTTP/2 connection takes no new stream, nor the place of another`(_ stage: Stage) {
        play(stage, Self.upstream("h2c://127.0.0.1:9000", ", limits: {connections: 1}")) { scene in
            let conversation = Conversation(scene, .grpc)
            conversation.begin()
            conversation.say("one", end: false)
            conversation.accept()
            conversation.upstreamHears("head", "message one")
            scene.pass(.seconds(101))
            let second = Conversation(scene, .grpc, of: conversation.caller, stream: 3)
            second.ask()
            second.settleWell()
            // The stream that was there goes on.
            conversation.say("two", end: true)
            conversation.upstreamHears("message two", "end")
            conversation.settleWell()
            #expect(scene.upstream().connects == 2)
            scene.until { conversation.upstream.peer.end != nil }
            #expect(conversation.upstream.peer.end != nil)
        }
    }
}
