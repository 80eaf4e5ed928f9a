import HTTP2Kit
import Testing

@testable import Proxy

/// What becomes of callers' connections when file descriptors run short.
///
/// Of 64 descriptors callers have 32, and up to 48 in need.
@Suite struct DescriptorTests {
    private let budget = DescriptorBudget(limit: 64, firstOfLast: .max)

    private func play(_ yaml: String = plain, _ script: (Scene) -> Void) {
        for stage in Stage.allCases {
            let scene = Scene(stage, yaml, descriptors: budget)
            script(scene)
            scene.finish()
            #expect(budget.used == 0)
            #expect(budget.excess == -budget.callerShare)
        }
    }

    /// Callers that connect one after the other, and say nothing; then `time` passes.
    private func crowd(_ scene: Scene, _ count: Int, idle time: Duration = .seconds(1)) -> [ScriptedPeer] {
        let callers = (0..<count).map { _ in
            let caller = scene.caller()
            scene.pass(.milliseconds(15))
            return caller
        }
        scene.pass(time)
        return callers
    }

    private func gone(_ callers: [ScriptedPeer]) -> [Int] {
        callers.indices.filter { callers[$0].end != nil }
    }

    private func evicted(_ scene: Scene) -> String? {
        scene.metrics("martlet_connections_evicted_total").first.map { String($0.split(separator: " ").last!) }
    }

    private func call(_ caller: ScriptedPeer, _ scene: Scene) {
        caller.send(get)
        let upstream = scene.upstream().accept()
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
        play { scene in
            let callers = crowd(scene, 32)
            // The eldest is not idle longest any more.
            call(callers[0], scene)
            scene.pass(.milliseconds(15))
            let new = scene.caller()
            scene.settle()
            #expect(gone(callers) == [1])
            call(new, scene)
            call(callers[0], scene)
            #expect(evicted(scene) == "1")
        }
    }

    @Test func `a connection with a call under way, or with part of a head, is not idle`() {
        play { scene in
            let callers = crowd(scene, 32)
            callers[0].send(get)
            scene.upstream().accept().expect(gotUpstream)
            callers[1].send("GET / HT")
            scene.settle()
            _ = scene.caller()
            scene.settle()
            #expect(gone(callers) == [2])
        }
    }

    @Test func `a request that has come already is served`() {
        play { scene in
            let callers = crowd(scene, 32)
            scene.stopTelling()
            callers[0].send(get)
            if scene.stage == .sockets { callers[0].move() }
            scene.startTelling()
            _ = scene.caller()
            scene.settle()
            #expect(gone(callers) == [1])
            scene.upstream().accept().expect(gotUpstream)
        }
    }

    @Test func `an idle HTTP/2 connection is told goodbye`() {
        play(http2Plain) { scene in
            let first = scene.http2Caller()
            scene.pass(.milliseconds(15))
            let others = crowd(scene, 32)
            scene.settle()
            #expect(gone(others) == [])
            #expect(first.frames.contains { $0.kind == .goaway })
        }
    }

    @Test func `where nobody is idle others are asked, half of the reserve is used, and then callers are refused`() {
        play { scene in
            var busy: [ScriptedPeer] = []
            func add(_ count: Int) {
                for _ in 0..<count {
                    busy.append(scene.caller())
                    busy.last?.send("GET / HT")
                    scene.settle()
                }
            }
            add(32)
            #expect(scene.callsForDescriptors == 0)
            add(16)
            #expect(scene.callsForDescriptors > 0)
            #expect(gone(busy) == [])
            let refused = scene.caller()
            #expect(refused.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            let text = "no file descriptor is left for another connection"
            refused.expect(#"{"code":"resource_exhausted","message":"\#(text)"}"#)
            #expect(gone(busy) == [])
            #expect(scene.metrics("martlet_limit_hits_total{limit=\"descriptors\"}").first?.hasSuffix(" 0") == false)
        }
    }

    @Test func `a new connection is not closed before its first bytes as long as there is a reserve`() {
        play { scene in
            let busy = crowd(scene, 32)
            for caller in busy { caller.send("GET / HT") }
            scene.settle()
            let new = crowd(scene, 16, idle: .zero)
            #expect(gone(new) == [])
            // Now only they could make room, and the eldest does.
            let last = crowd(scene, 4, idle: .zero)
            #expect(gone(new) == [0, 1, 2, 3])
            #expect(gone(last) == [])
            #expect(gone(busy) == [])
        }
    }

    @Test func `a connection to an upstream for which there is no descriptor is tried again`() {
        play { scene in
            let callers = crowd(scene, 4)
            scene.upstream().behaviour = .lacksDescriptors
            callers[3].send(get)
            scene.settle()
            #expect(gone(callers) == [0])
            callers[3].expectNothing()
            scene.upstream().behaviour = .accepts
            scene.pass(.milliseconds(20))
            scene.upstream().accept().expect(gotUpstream)
        }
    }

    @Test func `where no descriptor comes the call fails soon`() {
        play { scene in
            let caller = scene.caller()
            scene.upstream().behaviour = .lacksDescriptors
            caller.send(get)
            for _ in 0..<6 { scene.pass(.milliseconds(20)) }
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(scene.upstream().connects == 6)
            #expect(scene.callsForDescriptors > 0)
        }
    }
}
