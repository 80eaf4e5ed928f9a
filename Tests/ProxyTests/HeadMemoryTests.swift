import HTTP2Kit
import Testing

@testable import Proxy

/// What the unfinished heads of all callers may hold.
@Suite struct HeadMemoryTests {
    /// The bytes that others hold, so that 12 KiB are left to heads.
    private static let others = 500 * 1024
    private let memory = MemoryBudget(limit: 1024 * 1024)
    private static let line = "x-padding: \(String(repeating: "x", count: 987))\r\n"

    private func runProxy(_ yaml: String = plain, _ script: (ProxyHarness) -> Void) {
        for transport in Transport.allCases {
            let harness = ProxyHarness(transport, yaml, memory: memory)
            memory.add(Self.others)
            script(harness)
            memory.add(-Self.others)
            harness.finish()
            #expect(memory.total == 0)
        }
    }

    private var used: Int { memory.used - Self.others }

    private func hits(_ harness: ProxyHarness) -> String? {
        harness.metrics("martlet_limit_hits_total{limit=\"memory\"}").first.map {
            String($0.split(separator: " ").last!)
        }
    }

    /// Begins a head of about so many KiB, in lines or in one.
    private func begin(_ caller: ScriptedPeer, _ harness: ProxyHarness, lines: Int, long: Int = 0) {
        caller.send("GET / HTTP/1.1\r\nhost: a\r\n" + String(repeating: Self.line, count: lines))
        if long > 0 { caller.send("x-long: " + String(repeating: "y", count: long * 1024)) }
        harness.settle()
    }

    @Test func `heads hold memory until they are whole`() {
        runProxy { harness in
            let caller = harness.caller()
            begin(caller, harness, lines: 3)
            #expect(used == 4096)
            begin(harness.caller(), harness, lines: 1, long: 6)
            #expect(used == 2 * 4096)
            caller.send("\r\n")
            _ = harness.upstream().accept().head()
            #expect(used == 4096)
        }
    }

    @Test func `a head that comes at once counts for nothing`() {
        runProxy { harness in
            harness.caller().send("GET / HTTP/1.1\r\nhost: a\r\n" + String(repeating: Self.line, count: 30) + "\r\n")
            _ = harness.upstream().accept().head()
            #expect(used <= Call.size)
            #expect(hits(harness) == "0")
        }
    }

    @Test func `a head beyond the limit is rejected, and the others are served`() {
        runProxy { harness in
            let first = harness.caller()
            begin(first, harness, lines: 11)
            #expect(used == 12 * 1024)
            let second = harness.caller()
            begin(second, harness, lines: 1, long: 8)
            #expect(second.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            let text = "Martlet has reached its memory limit (limits.memory)"
            second.expect(#"{"code":"resource_exhausted","message":"\#(text)"}"#)
            second.expectEnd()
            #expect(hits(harness) == "1")
            #expect(used == 12 * 1024)
            first.send("\r\n")
            _ = harness.upstream().accept().head()
        }
    }

    @Test func `callers that vanish give the memory back`() {
        runProxy { harness in
            let callers = [harness.caller(), harness.caller()]
            for caller in callers { begin(caller, harness, lines: 3) }
            #expect(used == 2 * 4096)
            callers[0].close()
            callers[1].reset()
            harness.until { used == 0 }
            #expect(used == 0)
        }
    }

    @Test func `a head of HTTP/2 in several frames counts as well`() {
        runProxy(http2Plain) { harness in
            begin(harness.caller(), harness, lines: 3)
            let caller = harness.http2Caller()
            let fields = (0..<20).flatMap { HPACK.literal("x-\($0)", String(repeating: "z", count: 1000)) }
            caller.send(Frame(.headers, flags: 0, stream: 1, Array(fields.prefix(16_000))))
            harness.settle()
            caller.expect("1 RST_STREAM REFUSED_STREAM")
            // The rest of the head is nobody's, and the connection goes on.
            caller.send(Frame(.continuation, flags: Frame.Flag.endHeaders, stream: 1, Array(fields.dropFirst(16_000))))
            caller.send(.say(3, "text/plain", end: true))
            harness.upstream().acceptHTTP2(in: harness).expect(
                "1 HEADERS/end \(control()) | content-type: text/plain | x-trace: probe"
            )
            #expect(hits(harness) == "1")
            #expect(used == 4096)
        }
    }

    @Test(arguments: [false, true])
    func `a call ends for whose trailers there is no memory, and nobody is reported that it was not processed`(
        hasResponse: Bool
    ) {
        runProxy(http2Plain) { harness in
            let other = harness.caller()
            begin(other, harness, lines: 3)
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            if hasResponse {
                upstream.send(.response(1, 200, ["content-type": "application/grpc"]))
                _ = caller.next()
            }
            let fields = (0..<20).flatMap { HPACK.literal("x-\($0)", String(repeating: "z", count: 1000)) }
            caller.send(Frame(.headers, flags: Frame.Flag.end, stream: 1, Array(fields.prefix(16_000))))
            harness.settle()
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(harness.livingCalls == 0)
            #expect(harness.eventLog.drain().last == "probe finished resource_exhausted by martlet")
            if hasResponse {
                caller.expect("1 RST_STREAM ENHANCE_YOUR_CALM")
            } else {
                let head = caller.next()
                #expect(head.hasPrefix("1 HEADERS/end :status: 200 | ") && head.contains("grpc-status: 8"), "\(head)")
            }
            // The rest is nobody's, and the connection goes on.
            caller.send(Frame(.continuation, flags: Frame.Flag.endHeaders, stream: 1, Array(fields.dropFirst(16_000))))
            other.send("\r\n")
            harness.settle()
            caller.send(.say(3, "text/plain", end: true))
            #expect(upstream.next().hasPrefix("3 HEADERS/end "))
            caller.expectNothing()
            #expect(hits(harness) == "1")
        }
    }
}
