import HTTP2Kit
import Testing

/// Many calls at once, whose events are held and released at random.
@Suite struct ManyStreamsTests {
    private static let calls = 1000
    private static let messages = 3

    @Test func `each of a thousand streams keeps its order, whatever is released first`() {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {default: {url: "h2c://127.0.0.1:9000", limits: {streams: 1000}}}
            interceptors: [{name: a, gate: {random: true}}, {name: b, gate: {random: true}}]
            """
        runProxy(yaml) { harness in
            var random = SeededGenerator(seed: 19)
            let caller = harness.http2Caller([.window: 1 << 20])
            for call in 0..<Self.calls { caller.send(.say(2 * call + 1, "application/grpc")) }
            for message in 1...Self.messages {
                for call in 0..<Self.calls {
                    let text = envelope("\(call) \(message)")
                    caller.send(.data(2 * call + 1, text, end: message == Self.messages))
                }
            }
            let upstream = harness.upstream().acceptHTTP2(in: harness, [.streams: 10_000])
            release(harness, &random)
            let asked = bodies(upstream)
            #expect(Set(asked.values) == Set((0..<Self.calls).map(expected)))
            for (stream, body) in asked {
                upstream.send(.response(stream, 200, ["content-type": "application/grpc"]), .data(stream, body))
                upstream.send(.headers(stream, ["grpc-status": "0"], end: true))
            }
            release(harness, &random)
            let responses = bodies(caller)
            #expect(responses.count == Self.calls)
            for call in 0..<Self.calls { #expect(responses[2 * call + 1] == expected(call)) }
            let ends = caller.rest().filter { $0.contains(" HEADERS/end grpc-status: 0") }
            #expect(ends.count == Self.calls)
        }
    }

    private func expected(_ call: Int) -> String {
        (1...Self.messages).map { envelope("\(call) \($0)") }.joined()
    }

    /// Releases what waits, at random, until nothing does.
    private func release(_ harness: ProxyHarness, _ random: inout SeededGenerator) {
        harness.settle()
        while true {
            let (a, b) = (harness.gates["a"], harness.gates["b"])
            let count = a.events.count + b.events.count
            guard count > 0 else { return harness.settle() }
            for _ in 0..<count {
                let index = Int.random(in: 0..<(a.count + b.count), using: &random)
                index < a.count ? a.release(at: index) : b.release(at: index - a.count)
                if a.count + b.count == 0 { break }
            }
            harness.settle()
        }
    }

    private func bodies(_ peer: HTTP2Peer) -> [Int: String] {
        peer.frames.reduce(into: [:]) { bodies, frame in
            if frame.kind == .data { bodies[frame.stream, default: ""] += frame.payload.latin1 }
        }
    }
}
