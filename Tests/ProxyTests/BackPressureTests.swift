import Testing
import Time

/// A side that takes nothing stops the other, and what waits between them is bounded.
@Suite struct BackPressureTests {
    private static let mebibyte = [UInt8](repeating: 0x61, count: 1 << 20)
    /// What is read ahead of a paused side, what may wait behind it, and one read more.
    private static let maxBytes = 4 * 128 * 1024 + 64 * 1024
    /// What the buffers of two sockets hold.
    private static let kernel = 24 << 20

    @Test(arguments: Transport.allCases)
    func `an upstream that does not read stops the caller`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let count = transport == .memory ? 4 : 48
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(count << 20)"))
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.stopReading(room: 64 * 1024)
            for _ in 0..<count { caller.send(Self.mebibyte) }
            harness.settle()
            let taken = (count << 20) - caller.unsentBytes
            #expect(taken <= (transport == .memory ? Self.maxBytes : Self.kernel))
            #expect(taken > 64 * 1024)
            upstream.startReading()
            #expect(upstream.receive(count << 20).count == count << 20)
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that does not read stops the upstream`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let count = transport == .memory ? 4 : 48
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            caller.stopReading(room: 64 * 1024)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: \(count << 20)"))
            for _ in 0..<count { upstream.send(Self.mebibyte) }
            harness.settle()
            let taken = (count << 20) - upstream.unsentBytes
            #expect(taken <= (transport == .memory ? Self.maxBytes : Self.kernel))
            #expect(taken > 64 * 1024)
            upstream.close()
            caller.startReading()
            _ = caller.head()
            #expect(caller.receive(count << 20).count >= taken - 1024)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body waits for its upstream connection`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(48 << 20)"))
            for _ in 0..<48 { caller.send(Self.mebibyte) }
            harness.settle()
            #expect((48 << 20) - caller.unsentBytes <= (transport == .memory ? Self.maxBytes : Self.kernel))
            caller.reset()
            harness.pass(.seconds(3))
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that goes while its body waits is noticed, though nobody reads`(_ transport: Transport) {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {default: {url: "http://127.0.0.1:9000", timeouts: {connect: 60s}}}
            interceptors: [{metrics: {}}]
            """
        runProxy(transport, yaml) { harness in
            let count = transport == .memory ? 4 : 48
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(count << 20)"))
            for _ in 0..<count { caller.send(Self.mebibyte) }
            harness.settle()
            #expect(harness.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 1"])
            caller.reset()
            harness.pass(.milliseconds(300))
            harness.until { harness.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"] }
            #expect(harness.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"])
            // The dial goes on without a caller.
            harness.pass(.seconds(61))
        }
    }

    @Test func `a body that came all at once goes on once it has been taken`() {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {head: 2MiB}}]
            upstream: http://127.0.0.1:9000
            """
        runProxy(yaml) { harness in
            // Long enough for the whole mebibyte to wait, and then to be sent in one go.
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(3 << 20)"))
            for _ in 0..<3 { caller.send(Self.mebibyte) }
            harness.settle()
            harness.upstream().behaviour = .accepts
            harness.upstream().admit()
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            #expect(upstream.receive(3 << 20).count == 3 << 20)
        }
    }

    @Test func `pipelined responses that had to wait are followed by the others`() {
        let body = String(repeating: "a", count: 100_000)
        runProxy("listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: \(body)}}]\n") { harness in
            let caller = harness.caller()
            caller.send(String(repeating: get, count: 20))
            for _ in 0..<20 { caller.expect(http("HTTP/1.1 200 OK", "content-length: 100000", body: body)) }
        }
    }
}
