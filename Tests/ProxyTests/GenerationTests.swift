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

    @Test(arguments: Transport.allCases)
    func `a call under way stays with what it began with, and the next goes by the new`(_ transport: Transport) {
        runProxy(transport, Self.marked(1)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.use(Self.marked(2))
            #expect(harness.worker.liveGenerations == 2)
            #expect(harness.discardedTables == 0)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "x-mark: 1", "content-length: 0"))
            harness.settle()
            #expect(harness.worker.liveGenerations == 1)
            #expect(harness.discardedTables == 1)
            caller.send(get)
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "x-mark: 2", "content-length: 0"))
            #expect(harness.upstream().connects == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an upstream that is gone serves the calls that it has, and closes`(_ transport: Transport) {
        runProxy(transport, Self.marked(1)) { harness in
            let callers = (harness.caller(), harness.caller())
            callers.0.send(get)
            let first = harness.upstream().accept()
            first.expect(gotUpstream)
            callers.1.send(get)
            let second = harness.upstream().accept()
            second.expect(gotUpstream)
            second.send(fine)
            _ = callers.1.head()
            harness.use(Self.marked(2, port: 9001))
            second.expectEnd()
            first.send(fine)
            #expect(callers.0.head().contains("x-mark: 1"))
            first.expectEnd()
            callers.0.send(say)
            _ = harness.upstream("127.0.0.1:9001").accept().head()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that waits for a connection gets one although its upstream is gone`(_ transport: Transport) {
        runProxy(transport, Self.marked(1)) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(get)
            harness.settle()
            harness.use(Self.marked(2, port: 9001))
            harness.upstream().admit()
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(fine)
            #expect(caller.head().contains("x-mark: 1"))
            upstream.expectEnd()
        }
    }
}
