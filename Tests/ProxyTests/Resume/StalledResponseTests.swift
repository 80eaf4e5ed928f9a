import Testing
import Time

/// A response of which nothing comes for too long is resumed; one that waits for its caller is not.
@Suite struct StalledResponseTests {
    private static let resuming = """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "http://127.0.0.1:9000"}}
        interceptors: [{resume: {max: 1, stalled: 200ms}}]
        """
    private static let half = [UInt8](repeating: 0x61, count: 100_000)

    /// Begins a response whose caller reads none of the first half.
    private func begin(_ harness: ProxyHarness) -> (ScriptedPeer, ScriptedPeer) {
        let caller = harness.caller()
        caller.stopReading(room: 1024)
        caller.send(get)
        let upstream = harness.upstream().accept()
        _ = upstream.head()
        upstream.send(http("HTTP/1.1 200 OK", "etag: \"v1\"", "content-length: \(2 * Self.half.count)"))
        upstream.send(Self.half)
        harness.settle()
        return (caller, upstream)
    }

    @Test func `an upstream has its time from when the caller reads again`() {
        runProxy(.memory, Self.resuming) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.milliseconds(200))
            harness.pass(.milliseconds(190))
            caller.startReading()
            harness.pass(.milliseconds(190))
            upstream.send(Self.half)
            _ = caller.head()
            #expect(caller.receive(2 * Self.half.count) == Self.half + Self.half)
        }
    }

    @Test func `an upstream that sends nothing to a caller that reads again is stalled`() {
        runProxy(.memory, Self.resuming) { harness in
            let (caller, _) = begin(harness)
            harness.pass(.milliseconds(200))
            caller.startReading()
            harness.pass(.milliseconds(210))
            let second = harness.upstream().accept()
            #expect(second.head().contains("range: bytes=\(Self.half.count)-"))
        }
    }
}
