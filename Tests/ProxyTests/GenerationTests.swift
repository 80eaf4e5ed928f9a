import Testing

@testable import Proxy

@Suite struct GenerationTests {
    private static func marked(_ mark: Int, port: Int = 9000) -> String {
        """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:\(port)
        interceptors: [{headers: {response: {set: {x-mark: "\(mark)"}}}}]
        """
    }

    @Test(arguments: Stage.allCases)
    func `a call under way stays with what it began with, and the next goes by the new`(_ stage: Stage) {
        play(stage, Self.marked(1)) { scene in
            let caller = scene.caller()
            caller.send(get)
            let upstream = scene.upstream().accept()
            upstream.expect(gotUpstream)
            scene.use(Self.marked(2))
            #expect(scene.worker.liveGenerations == 2)
            #expect(scene.discardedTables == 0)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "x-mark: 1", "content-length: 0"))
            scene.settle()
            #expect(scene.worker.liveGenerations == 1)
            #expect(scene.discardedTables == 1)
            caller.send(get)
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "x-mark: 2", "content-length: 0"))
            #expect(scene.upstream().connects == 1)
        }
    }

    @Test(arguments: Stage.allCases)
    func `an upstream that is gone serves the calls that it has, and closes`(_ stage: Stage) {
        play(stage, Self.marked(1)) { scene in
            let callers = (scene.caller(), scene.caller())
            callers.0.send(get)
            let first = scene.upstream().accept()
            first.expect(gotUpstream)
            callers.1.send(get)
            let second = scene.upstream().accept()
            second.expect(gotUpstream)
            second.send(fine)
            _ = callers.1.head()
            scene.use(Self.marked(2, port: 9001))
            second.expectEnd()
            first.send(fine)
            #expect(callers.0.head().contains("x-mark: 1"))
            first.expectEnd()
            callers.0.send(say)
            _ = scene.upstream("127.0.0.1:9001").accept().head()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a call that waits for a connection gets one although its upstream is gone`(_ stage: Stage) {
        play(stage, Self.marked(1)) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(get)
            scene.settle()
            scene.use(Self.marked(2, port: 9001))
            scene.upstream().admit()
            let upstream = scene.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(fine)
            #expect(caller.head().contains("x-mark: 1"))
            upstream.expectEnd()
        }
    }
}
