import HTTP2Kit
import Testing

@testable import Proxy

/// What the unfinished heads of all callers may hold.
@Suite struct HeadMemoryTests {
    private let memory = MemoryBudget(limit: 16 * 1024)
    private static let line = "x-padding: \(String(repeating: "x", count: 987))\r\n"

    private func play(_ yaml: String = plain, _ script: (Scene) -> Void) {
        for stage in Stage.allCases {
            let scene = Scene(stage, yaml, memory: memory)
            script(scene)
            scene.finish()
            #expect(memory.used == 0)
        }
    }

    private func hits(_ scene: Scene) -> String? {
        scene.metrics("martlet_limit_hits_total{limit=\"memory\"}").first.map { String($0.split(separator: " ").last!) }
    }

    /// Begins a head of about so many KiB, in lines or in one.
    private func begin(_ caller: ScriptedPeer, _ scene: Scene, lines: Int, long: Int = 0) {
        caller.send("GET / HTTP/1.1\r\nhost: a\r\n" + String(repeating: Self.line, count: lines))
        if long > 0 { caller.send("x-long: " + String(repeating: "y", count: long * 1024)) }
        scene.settle()
    }

    @Test func `heads hold memory until they are whole`() {
        play { scene in
            let caller = scene.caller()
            begin(caller, scene, lines: 3)
            #expect(memory.used == 4096)
            begin(scene.caller(), scene, lines: 1, long: 6)
            #expect(memory.used == 2 * 4096)
            caller.send("\r\n")
            _ = scene.upstream().accept().head()
            #expect(memory.used == 4096)
        }
    }

    @Test func `a head that comes at once counts for nothing`() {
        play { scene in
            scene.caller().send("GET / HTTP/1.1\r\nhost: a\r\n" + String(repeating: Self.line, count: 30) + "\r\n")
            _ = scene.upstream().accept().head()
            #expect(memory.used <= Call.size)
            #expect(hits(scene) == "0")
        }
    }

    @Test func `a head beyond the limit is refused, and the others are served`() {
        play { scene in
            let first = scene.caller()
            begin(first, scene, lines: 11)
            #expect(memory.used == 12 * 1024)
            let second = scene.caller()
            begin(second, scene, lines: 1, long: 8)
            #expect(second.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            let text = "martlet is short of memory (limits.memory)"
            second.expect(#"{"code":"resource_exhausted","message":"\#(text)"}"#)
            second.expectEnd()
            #expect(hits(scene) == "1")
            #expect(memory.used == 12 * 1024)
            first.send("\r\n")
            _ = scene.upstream().accept().head()
        }
    }

    @Test func `callers that vanish give the memory back`() {
        play { scene in
            let callers = [scene.caller(), scene.caller()]
            for caller in callers { begin(caller, scene, lines: 3) }
            #expect(memory.used == 2 * 4096)
            callers[0].close()
            callers[1].reset()
            scene.until { memory.used == 0 }
            #expect(memory.used == 0)
        }
    }

    @Test func `a head of HTTP/2 in several frames counts as well`() {
        play(http2Plain) { scene in
            begin(scene.caller(), scene, lines: 3)
            let caller = scene.http2Caller()
            let fields = (0..<20).flatMap { HPACK.literal("x-\($0)", String(repeating: "z", count: 1000)) }
            caller.send(Frame(.headers, flags: 0, stream: 1, Array(fields.prefix(16_000))))
            scene.settle()
            caller.expect("1 RST_STREAM REFUSED_STREAM")
            // The rest of the head is nobody's, and the connection goes on.
            caller.send(Frame(.continuation, flags: Frame.Flag.endHeaders, stream: 1, Array(fields.dropFirst(16_000))))
            caller.send(.say(3, "text/plain", end: true))
            scene.upstream().acceptHTTP2(in: scene).expect(
                "1 HEADERS/end \(control()) | content-type: text/plain | x-trace: probe"
            )
            #expect(hits(scene) == "1")
            #expect(memory.used == 4096)
        }
    }

    @Test(arguments: [false, true])
    func `a call ends for whose trailers there is no memory, and nobody is told that it was not processed`(
        hasResponse: Bool
    ) {
        play(http2Plain) { scene in
            let other = scene.caller()
            begin(other, scene, lines: 3)
            let caller = scene.http2Caller()
            caller.send(.say(1, "application/grpc"))
            let upstream = scene.upstream().acceptHTTP2(in: scene)
            _ = upstream.next()
            if hasResponse {
                upstream.send(.response(1, 200, ["content-type": "application/grpc"]))
                _ = caller.next()
            }
            let fields = (0..<20).flatMap { HPACK.literal("x-\($0)", String(repeating: "z", count: 1000)) }
            caller.send(Frame(.headers, flags: Frame.Flag.end, stream: 1, Array(fields.prefix(16_000))))
            scene.settle()
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(scene.livingCalls == 0)
            #expect(scene.diary.take().last == "probe finished resource_exhausted by martlet")
            if hasResponse {
                caller.expect("1 RST_STREAM ENHANCE_YOUR_CALM")
            } else {
                let head = caller.next()
                #expect(head.hasPrefix("1 HEADERS/end :status: 200 | ") && head.contains("grpc-status: 8"), "\(head)")
            }
            // The rest is nobody's, and the connection goes on.
            caller.send(Frame(.continuation, flags: Frame.Flag.endHeaders, stream: 1, Array(fields.dropFirst(16_000))))
            other.send("\r\n")
            scene.settle()
            caller.send(.say(3, "text/plain", end: true))
            #expect(upstream.next().hasPrefix("3 HEADERS/end "))
            caller.expectNothing()
            #expect(hits(scene) == "1")
        }
    }
}
