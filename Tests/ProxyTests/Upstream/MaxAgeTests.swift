import Testing
import Time

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

    @Test(arguments: Transport.allCases)
    func `an idle connection is closed at its age, and the next call has another`(_ transport: Transport) {
        runProxy(transport, Self.upstream("http://127.0.0.1:9000")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let first = harness.upstream().accept()
            first.expect(gotUpstream)
            first.send(fine)
            caller.expect(fine)
            harness.pass(.seconds(89))
            call(caller, first)
            harness.pass(.seconds(12))
            first.expectEnd()
            caller.send(get)
            harness.upstream().accept().expect(gotUpstream)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that is under way at that age ends well, and its connection with it`(_ transport: Transport) {
        runProxy(transport, Self.upstream("http://127.0.0.1:9000")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.pass(.seconds(500))
            upstream.expectNothing()
            upstream.send(fine)
            caller.expect(fine)
            upstream.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `an old address is left within the age after a change of DNS`(_ transport: Transport) {
        runProxy(transport, Self.upstream("http://app.example:9000", ", addresses: first")) { harness in
            harness.know(["192.0.2.1:9000"], as: "default")
            let caller = harness.caller()
            let request = http("GET /pkg.Service/Look HTTP/1.1", "host: app.example:9000")
            func call(_ upstream: ScriptedPeer) {
                upstream.expect(request)
                upstream.send(fine)
                caller.expect(fine)
            }
            caller.send(get)
            let old = harness.upstream("192.0.2.1:9000").accept()
            call(old)
            harness.know(["192.0.2.2:9000"], as: "default")
            // The connection is in use now and then, and would last for ever.
            for _ in 0..<8 {
                harness.pass(.seconds(11))
                caller.send(get)
                call(old)
            }
            harness.pass(.seconds(13))
            caller.send(get)
            call(harness.upstream("192.0.2.2:9000").accept())
            #expect(harness.upstream("192.0.2.1:9000").connects == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an old HTTP/2 connection takes no new stream, nor the place of another`(_ transport: Transport) {
        runProxy(transport, Self.upstream("h2c://127.0.0.1:9000", ", limits: {connections: 1}")) { harness in
            let conversation = CallScript(harness, .grpc)
            conversation.begin()
            conversation.say("one", end: false)
            conversation.accept()
            conversation.upstreamReceives("head", "message one")
            harness.pass(.seconds(101))
            let second = CallScript(harness, .grpc, of: conversation.caller, stream: 3)
            second.ask()
            second.settleWell()
            // The stream that was there goes on.
            conversation.say("two", end: true)
            conversation.upstreamReceives("message two", "end")
            conversation.settleWell()
            #expect(harness.upstream().connects == 2)
            harness.until { conversation.upstream.peer.end != nil }
            #expect(conversation.upstream.peer.end != nil)
        }
    }
}
