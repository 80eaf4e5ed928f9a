import Testing

/// A side that takes nothing stops the other, and what waits between them is bounded.
@Suite struct BackPressureTests {
    private static let mebibyte = [UInt8](repeating: 0x61, count: 1 << 20)
    /// What is read ahead of a paused side, what may wait behind it, and one read more.
    private static let maxBytes = 4 * 128 * 1024 + 64 * 1024
    /// What the buffers of two sockets hold.
    private static let kernel = 24 << 20

    @Test(arguments: Stage.allCases)
    func `an upstream that does not read stops the caller`(_ stage: Stage) {
        play(stage, plain) { scene in
            let count = stage == .memory ? 4 : 48
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(count << 20)"))
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            upstream.stopReading(room: 64 * 1024)
            for _ in 0..<count { caller.send(Self.mebibyte) }
            scene.settle()
            let taken = (count << 20) - caller.unsentBytes
            #expect(taken <= (stage == .memory ? Self.maxBytes : Self.kernel))
            #expect(taken > 64 * 1024)
            upstream.startReading()
            #expect(upstream.take(count << 20).count == count << 20)
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a caller that does not read stops the upstream`(_ stage: Stage) {
        play(stage, plain) { scene in
            let count = stage == .memory ? 4 : 48
            let caller = scene.caller()
            caller.send(get)
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            caller.stopReading(room: 64 * 1024)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: \(count << 20)"))
            for _ in 0..<count { upstream.send(Self.mebibyte) }
            scene.settle()
            let taken = (count << 20) - upstream.unsentBytes
            #expect(taken <= (stage == .memory ? Self.maxBytes : Self.kernel))
            #expect(taken > 64 * 1024)
            upstream.close()
            caller.startReading()
            _ = caller.head()
            #expect(caller.take(count << 20).count >= taken - 1024)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a body waits for its upstream connection`(_ stage: Stage) {
        play(stage, plain) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(48 << 20)"))
            for _ in 0..<48 { caller.send(Self.mebibyte) }
            scene.settle()
            #expect((48 << 20) - caller.unsentBytes <= (stage == .memory ? Self.maxBytes : Self.kernel))
            caller.reset()
            scene.pass(.seconds(3))
        }
    }

    @Test(arguments: Stage.allCases)
    func `a caller that goes while its body waits is noticed, though nobody reads`(_ stage: Stage) {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {default: {url: "http://127.0.0.1:9000", timeouts: {connect: none}}}
            interceptors: [{metrics: {}}]
            """
        play(stage, yaml) { scene in
            let count = stage == .memory ? 4 : 48
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(count << 20)"))
            for _ in 0..<count { caller.send(Self.mebibyte) }
            scene.settle()
            #expect(scene.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 1"])
            caller.reset()
            scene.pass(.milliseconds(300))
            scene.until { scene.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"] }
            #expect(scene.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"])
        }
    }

    @Test func `a body that came all at once goes on once it has been taken`() {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {head: 2MiB}}]
            upstream: http://127.0.0.1:9000
            """
        play(yaml) { scene in
            // Long enough for the whole mebibyte to wait, and then to be sent in one go.
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "content-length: \(3 << 20)"))
            for _ in 0..<3 { caller.send(Self.mebibyte) }
            scene.settle()
            scene.upstream().behaviour = .accepts
            scene.upstream().admit()
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            #expect(upstream.take(3 << 20).count == 3 << 20)
        }
    }

    @Test func `pipelined responses that had to wait are followed by the others`() {
        let body = String(repeating: "a", count: 100_000)
        play("listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: \(body)}}]\n") { scene in
            let caller = scene.caller()
            caller.send(String(repeating: get, count: 20))
            for _ in 0..<20 { caller.expect(http("HTTP/1.1 200 OK", "content-length: 100000", body: body)) }
        }
    }
}
