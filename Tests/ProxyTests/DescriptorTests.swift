import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// What becomes of callers' connections when file descriptors run short.
///
/// Of 64 descriptors callers have 32, and up to 48 in need.
@Suite struct DescriptorTests {
    private let budget = DescriptorBudget(limit: 64, firstOfLast: .max)

    private func runProxy(_ yaml: String = plain, _ script: (ProxyHarness) throws -> Void) rethrows {
        for transport in Transport.allCases {
            let harness = ProxyHarness(transport, yaml, descriptors: budget)
            try script(harness)
            harness.finish()
            #expect(budget.used == 0)
            #expect(budget.excess == -budget.callerShare)
        }
    }

    /// Callers that connect one after the other, and say nothing; then `time` passes.
    private func crowd(_ harness: ProxyHarness, _ count: Int, idle time: Duration = .seconds(1)) -> [ScriptedPeer] {
        let callers = (0..<count).map { _ in
            let caller = harness.caller()
            harness.pass(.milliseconds(15))
            return caller
        }
        harness.pass(time)
        return callers
    }

    private func gone(_ callers: [ScriptedPeer]) -> [Int] {
        callers.indices.filter { callers[$0].end != nil }
    }

    private func evicted(_ harness: ProxyHarness) -> String? {
        harness.metrics("martlet_connections_evicted_total").first.map { String($0.split(separator: " ").last!) }
    }

    private func call(_ caller: ScriptedPeer, _ harness: ProxyHarness) {
        caller.send(get)
        let upstream = harness.upstream().accept()
        upstream.expect(gotUpstream)
        upstream.send(http("HTTP/1.1 200 OK", "connection: close", "content-length: 0"))
        caller.expect(http("HTTP/1.1 200 OK", "content-length: 0"))
    }

    @Test(arguments: [(64, 32), (1024, 256), (4096, 1024), (65536, 4096), (20, 10)])
    func `a quarter is reserved, with bounds`(limit: Int, reserve: Int) {
        #expect(DescriptorBudget(limit: limit).reserve == reserve)
        #expect(DescriptorBudget(limit: limit).callerShare == limit - reserve)
    }

    @Test func `the connection that has been idle longest makes room for a new one`() {
        runProxy { harness in
            let callers = crowd(harness, 32)
            // The eldest is not idle longest any more.
            call(callers[0], harness)
            harness.pass(.milliseconds(15))
            let new = harness.caller()
            harness.settle()
            #expect(gone(callers) == [1])
            call(new, harness)
            call(callers[0], harness)
            #expect(evicted(harness) == "1")
        }
    }

    @Test func `a connection with a call under way, or with part of a head, is not idle`() {
        runProxy { harness in
            let callers = crowd(harness, 32)
            callers[0].send(get)
            harness.upstream().accept().expect(gotUpstream)
            callers[1].send("GET / HT")
            harness.settle()
            _ = harness.caller()
            harness.settle()
            #expect(gone(callers) == [2])
        }
    }

    @Test func `a request that has come already is served`() {
        runProxy { harness in
            let callers = crowd(harness, 32)
            harness.stopReporting()
            callers[0].send(get)
            if harness.transport == .sockets { callers[0].move() }
            harness.startReporting()
            _ = harness.caller()
            harness.settle()
            #expect(gone(callers) == [1])
            harness.upstream().accept().expect(gotUpstream)
        }
    }

    @Test func `an idle HTTP/2 connection is reported GOAWAY`() {
        runProxy(http2Plain) { harness in
            let first = harness.http2Caller()
            harness.pass(.milliseconds(15))
            let others = crowd(harness, 32)
            harness.settle()
            #expect(gone(others) == [])
            #expect(first.frames.contains { $0.kind == .goaway })
        }
    }

    @Test func `where nobody is idle others are asked, half of the reserve is used, and then callers are rejected`() {
        runProxy { harness in
            var busy: [ScriptedPeer] = []
            func add(_ count: Int) {
                for _ in 0..<count {
                    busy.append(harness.caller())
                    busy.last?.send("GET / HT")
                    harness.settle()
                }
            }
            add(32)
            #expect(harness.callsForDescriptors == 0)
            add(16)
            #expect(harness.callsForDescriptors > 0)
            #expect(gone(busy) == [])
            let rejected = harness.caller()
            #expect(rejected.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            let text = "out of file descriptors"
            rejected.expect(#"{"code":"resource_exhausted","message":"\#(text)"}"#)
            #expect(gone(busy) == [])
            #expect(harness.metrics("martlet_limit_hits_total{limit=\"descriptors\"}").first?.hasSuffix(" 0") == false)
        }
    }

    @Test func `a caller may wait for one that has just become idle, but not behind one that waited in vain`() throws {
        try runProxy { harness in
            let busy = (0..<47).map { _ in harness.caller() }
            for caller in busy { caller.send("GET / HT") }
            harness.settle()
            call(harness.caller(), harness)
            let keeper = try #require(harness.worker.context.descriptors)
            #expect(keeper.admit(0, mayWait: true) == .waits)
            #expect(keeper.admit(0, mayWait: false) == .rejected(.noDescriptor))
            #expect(keeper.admit(0, mayWait: true) == .rejected(.noDescriptor))
        }
    }

    @Test func `a new connection is not closed before its first bytes as long as there is a reserve`() {
        runProxy { harness in
            let busy = crowd(harness, 32)
            for caller in busy { caller.send("GET / HT") }
            harness.settle()
            let new = crowd(harness, 16, idle: .zero)
            #expect(gone(new) == [])
            // Now only they could make room, and the eldest does.
            let last = crowd(harness, 4, idle: .zero)
            #expect(gone(new) == [0, 1, 2, 3])
            #expect(gone(last) == [])
            #expect(gone(busy) == [])
        }
    }

    @Test func `a connection to an upstream for which there is no descriptor is retried`() {
        runProxy { harness in
            let callers = crowd(harness, 4)
            harness.upstream().behaviour = .lacksDescriptors
            callers[3].send(get)
            harness.settle()
            #expect(gone(callers) == [0])
            callers[3].expectNothing()
            harness.upstream().behaviour = .accepts
            harness.pass(.milliseconds(20))
            harness.upstream().accept().expect(gotUpstream)
        }
    }

    @Test func `where no descriptor comes the call fails soon`() {
        runProxy { harness in
            let caller = harness.caller()
            harness.upstream().behaviour = .lacksDescriptors
            caller.send(get)
            for _ in 0..<6 { harness.pass(.milliseconds(20)) }
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(harness.upstream().connects == 6)
            #expect(harness.callsForDescriptors > 0)
        }
    }
}
