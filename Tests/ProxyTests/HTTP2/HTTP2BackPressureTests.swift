import Events
import HTTP2Kit
import Testing

/// What happens when one side of a call over HTTP/2 takes nothing.
@Suite struct HTTP2BackPressureTests {
    /// What one stream may hold here, both sides of it together.
    private static let maxBytes = 400 * 1024
    private static let much = 16 << 20

    /// A call whose response has begun, with a caller that allows so much to be sent.
    private func begin(_ scene: Scene, window: Int, end: Bool = true) -> (HTTP2Peer, HTTP2Peer) {
        let caller = scene.http2Caller([.window: window])
        caller.send(.window(0, 1 << 30), .say(1, "text/plain", end: end))
        let upstream = scene.upstream().acceptHTTP2(in: scene, [.window: window])
        upstream.send(.window(0, 1 << 30))
        _ = upstream.next()
        return (caller, upstream)
    }

    private func hits(_ scene: Scene, _ limit: String) -> String {
        scene.metrics(#"martlet_h2_limit_hits_total{limit="\#(limit)"}"#).first.map { String($0.suffix(2)) } ?? ""
    }

    @Test(arguments: Stage.allCases)
    func `a caller whose window is shut stops the upstream`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 0)
            upstream.send(.response(1))
            _ = caller.next()
            let sent = upstream.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes && sent >= 128 * 1024, "\(sent)")
            #expect(caller.bodyBytes(1) == 0)
            caller.send(.window(1, Self.much))
            scene.until { caller.bodyBytes(1) == sent }
            #expect(caller.bodyBytes(1) == sent)
            #expect(upstream.send(body: 100_000, on: 1) == 100_000)
            scene.until { caller.bodyBytes(1) == sent + 100_000 }
            #expect(caller.bodyBytes(1) == sent + 100_000)
        }
    }

    @Test(arguments: Stage.allCases)
    func `an upstream whose window is shut stops the caller`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 0, end: false)
            let sent = caller.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes && sent >= 128 * 1024, "\(sent)")
            #expect(upstream.bodyBytes(1) == 0)
            upstream.send(.window(1, Self.much))
            scene.until { upstream.bodyBytes(1) == sent }
            #expect(upstream.bodyBytes(1) == sent)
        }
    }

    @Test func `a caller that reads nothing off its connection stops the upstream`() {
        play(http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 1 << 30)
            upstream.send(.response(1))
            _ = caller.next()
            caller.peer.stopReading(room: 64 * 1024)
            let sent = upstream.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes + 64 * 1024 && sent >= 128 * 1024, "\(sent)")
            caller.peer.startReading()
            scene.until { caller.bodyBytes(1) == sent }
            #expect(caller.bodyBytes(1) == sent)
        }
    }

    @Test func `an upstream that reads nothing off its connection stops the caller`() {
        play(http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 1 << 30, end: false)
            upstream.peer.stopReading(room: 64 * 1024)
            let sent = caller.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes + 64 * 1024 && sent >= 128 * 1024, "\(sent)")
            upstream.peer.startReading()
            scene.until { upstream.bodyBytes(1) == sent }
            #expect(upstream.bodyBytes(1) == sent)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a body that waits for its upstream connection is bounded`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.http2Caller()
            caller.send(.say(1, "text/plain"))
            let sent = caller.send(body: Self.much, on: 1)
            #expect(sent <= 64 * 1024, "\(sent)")
            scene.upstream().admit()
            let upstream = scene.upstream().acceptHTTP2(in: scene, [.window: 1 << 30])
            upstream.send(.window(0, 1 << 30))
            scene.until { upstream.bodyBytes(1) == sent }
            #expect(upstream.bodyBytes(1) == sent)
            #expect(caller.send(body: 100_000, on: 1) == 100_000)
        }
    }

    @Test(arguments: Stage.allCases)
    func `streams that nobody takes hold back none of the others`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 0)
            for stream in stride(from: 3, to: 102, by: 2) { caller.send(.say(stream, "text/plain", end: true)) }
            caller.send(.window(101, 1 << 20))
            _ = upstream.rest()
            for stream in stride(from: 1, to: 100, by: 2) {
                upstream.send(.response(stream))
                upstream.send(body: 300_000, on: stream)
            }
            upstream.send(.response(101))
            #expect(upstream.send(body: 500_000, on: 101) == 500_000)
            upstream.send(.data(101, end: true))
            scene.until { caller.bodyBytes(101) == 500_000 }
            #expect(caller.bodyBytes(101) == 500_000)
        }
    }

    /// Begins 24 calls whose responses nobody takes, on the streams 1, 3, 5 and so on to 47 of one connection.
    private func crowd(_ scene: Scene) -> (HTTP2Peer, HTTP2Peer) {
        let (caller, upstream) = begin(scene, window: 0)
        for stream in stride(from: 3, to: 48, by: 2) { caller.send(.say(stream, "text/plain", end: true)) }
        _ = upstream.rest()
        for stream in stride(from: 1, to: 48, by: 2) {
            upstream.send(.response(stream))
            upstream.send(body: 300_000, on: stream)
        }
        scene.settle()
        return (caller, upstream)
    }

    private static let head = "HEADERS/end \(control()) | content-type: text/plain | x-trace: probe"

    private static func limited(_ connections: Int) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "h2c://127.0.0.1:9000", limits: {connections: \(connections)}}}
        interceptors: [{metrics: {}}, {probe: {}}]
        """
    }

    @Test(arguments: Stage.allCases)
    func `a connection that holds much is taken for new calls only until there is another`(_ stage: Stage) {
        play(stage, Self.limited(2)) { scene in
            let (caller, upstream) = crowd(scene)
            caller.send(.say(49, "text/plain", end: true))
            upstream.expect("49 \(Self.head)")
            let second = scene.upstream().acceptHTTP2(in: scene)
            second.expectNothing()
            caller.send(.say(51, "text/plain", end: true))
            second.expect("1 \(Self.head)")
            // What is taken makes it a connection like others again.
            caller.send(.window(0, 1 << 24))
            for stream in stride(from: 1, to: 48, by: 2) { caller.send(.window(stream, 1 << 20)) }
            _ = caller.rest()
            upstream.send(.data(1, end: true))
            caller.send(.say(53, "text/plain", end: true))
            scene.settle()
            #expect(upstream.takeLines(of: 51) == ["51 \(Self.head)"])
            #expect(scene.upstream().connects == 2)
        }
    }

    /// What becomes of a connection beside the one that holds much.
    enum Second: CaseIterable { case forbidden, hangs, refused, withoutRoom }

    @Test(arguments: Stage.allCases, Second.allCases)
    func `a call does not wait for another connection while there is one with room`(_ stage: Stage, second: Second) {
        play(stage, Self.limited(second == .forbidden ? 1 : 2)) { scene in
            let (_, upstream) = crowd(scene)
            scene.upstream().behaviour = second == .hangs ? .hangs : second == .refused ? .refuses : .accepts
            let other = scene.http2Caller()
            for stream in [1, 3, 5] {
                other.send(.say(stream, "text/plain", end: true))
                upstream.expect("\(stream + 48) \(Self.head)")
                upstream.send(.response(stream + 48), .data(stream + 48, "hi", end: true))
                other.expect("\(stream) HEADERS :status: 200 | x-trace: probe", "\(stream) DATA/end hi")
                if second == .withoutRoom, stream == 1 {
                    _ = scene.upstream().acceptHTTP2(in: scene, [.streams: 0])
                    scene.settle()
                }
            }
            #expect(scene.upstream().connects == (second == .forbidden ? 1 : 2))
            // One that hangs is waited for by nobody, and fails nobody.
            scene.pass(.seconds(30))
            other.expectNothing()
            scene.upstream().behaviour = .accepts
        }
    }

    @Test(arguments: Stage.allCases)
    func `uploads that nobody takes hold back none of the others`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 0, end: false)
            for stream in stride(from: 3, to: 100, by: 2) { caller.send(.say(stream, "text/plain")) }
            for stream in stride(from: 1, to: 100, by: 2) { caller.send(body: 300_000, on: stream) }
            caller.send(.say(101, "text/plain"))
            _ = upstream.rest()
            upstream.send(.window(101, 1 << 20))
            #expect(caller.send(body: 500_000, on: 101) == 500_000)
            scene.until { upstream.bodyBytes(101) == 500_000 }
            #expect(upstream.bodyBytes(101) == 500_000)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a stream that is taken nothing of is ended in time, the others are not`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 0)
            caller.send(.say(3, "text/plain", end: true))
            _ = upstream.rest()
            upstream.send(.response(1), .data(1, "waits"), .response(3))
            _ = caller.rest()
            scene.pass(.seconds(50))
            caller.expectNothing()
            scene.pass(.seconds(80))
            caller.expect("1 RST_STREAM CANCEL")
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(hits(scene, "slow_reader") == " 1")
            caller.send(.window(3, 10))
            upstream.send(.data(3, "hi", end: true))
            caller.expect("3 DATA/end hi")
        }
    }

    @Test(arguments: Stage.allCases)
    func `a stream that is taken a little of now and then is let be`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 0)
            upstream.send(.response(1), .data(1, "0123456789"))
            _ = caller.next()
            for digit in 0..<10 {
                scene.pass(.seconds(30))
                caller.send(.window(1, 1))
                caller.expect("1 DATA \(digit)")
            }
            #expect(hits(scene, "slow_reader") != " 1")
        }
    }

    @Test func `a caller that was quiet and gets much in the moment of looking is let be`() {
        play(http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 1 << 20)
            upstream.send(.response(1))
            _ = caller.next()
            for _ in 0..<2 { scene.pass(.milliseconds(60_050)) }
            scene.stopTelling()
            upstream.send(.data(1, [UInt8](repeating: 0x61, count: 8192)))
            upstream.peer.move()
            scene.clock.now += 60_050_000_000
            scene.startTelling()
            scene.until { caller.bodyBytes(1) == 8192 }
            #expect(caller.bodyBytes(1) == 8192)
            #expect(hits(scene, "slow_reader") == " 0")
            caller.expect("1 DATA " + String(repeating: "a", count: 8192))
            caller.expectNothing()
        }
    }

    @Test func `a caller that reads nothing at all is broken off in time`() {
        play(http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 1 << 30)
            upstream.send(.response(1))
            _ = caller.next()
            caller.peer.stopReading(room: 1024)
            upstream.send(body: 200_000, on: 1)
            scene.pass(.seconds(50))
            upstream.expectNothing()
            for _ in 0..<3 { scene.pass(.seconds(50)) }
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(scene.livingCalls == 0)
            #expect(hits(scene, "slow_reader") != " 0")
            caller.peer.startReading()
            scene.until { caller.peer.end != nil }
            #expect(caller.peer.end == .broken)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a call that is over lets go of what its caller still sends`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            let (caller, upstream) = begin(scene, window: 0, end: false)
            caller.send(body: Self.much, on: 1)
            upstream.send(.response(1, 403, end: true))
            caller.expect("1 HEADERS/end :status: 403 | x-trace: probe")
            scene.settle()
            #expect(scene.livingCalls == 0)
            #expect(scene.diary.take().last == "probe finished permission_denied by upstream")
            caller.expectRefusal(1)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a call that fails while its body waits is let go of`(_ stage: Stage) {
        play(stage, http2Plain) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.http2Caller()
            caller.send(.say(1, "text/plain"))
            caller.send(body: Self.much, on: 1)
            scene.pass(.seconds(3))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 503 "))
            _ = caller.rest()
            #expect(scene.livingCalls == 0)
        }
    }
}
