import Bytes
import Events
import HTTP2Kit
import TLS
import Testing
import Time

@testable import Proxy

/// Connections count in `limits.memory`, and a quarter of it is theirs.
@Suite struct ConnectionMemoryTests {
    private let memory = MemoryBudget()

    /// Runs a script with a budget whose quarter is enough for `bytes` of connections.
    private func runProxy(
        _ yaml: String = plain,
        room bytes: Int = .max / 4,
        transports: [Transport] = Transport.allCases,
        _ script: (ProxyHarness) throws -> Void
    ) rethrows {
        for transport in transports {
            memory.limit = 4 * bytes
            let harness = ProxyHarness(transport, yaml, memory: memory)
            try script(harness)
            memory.limit = .max
            harness.finish()
            #expect(memory.connections == 0)
            #expect(memory.total == 0)
        }
    }

    /// Callers that connect one after the other, and send something; then `time` passes.
    private func crowd(
        _ harness: ProxyHarness,
        _ count: Int,
        sending text: String = "",
        idle time: Duration = .seconds(1)
    ) -> [ScriptedPeer] {
        let callers = (0..<count).map { _ in
            let caller = harness.caller()
            if !text.isEmpty { caller.send(text) }
            harness.pass(.milliseconds(15))
            return caller
        }
        harness.pass(time)
        return callers
    }

    private func gone(_ callers: [ScriptedPeer]) -> [Int] {
        callers.indices.filter { callers[$0].end != nil }
    }

    private func metric(_ harness: ProxyHarness, _ name: String) -> String? {
        harness.metrics(name).first.map { String($0.split(separator: " ").last!) }
    }

    private func hits(_ harness: ProxyHarness) -> String? {
        metric(harness, "martlet_limit_hits_total{limit=\"memory\"}")
    }

    @Test func `a connection counts until it closes, and HTTP/2 counts more`() {
        runProxy(http2Plain) { harness in
            let caller = harness.caller()
            harness.settle()
            #expect(memory.connections == ConnectionShare.plain)
            _ = harness.http2Caller()
            harness.settle()
            #expect(memory.connections == 2 * ConnectionShare.plain + ConnectionShare.http2)
            #expect(memory.used == 0)
            caller.close()
            harness.until { memory.connections == ConnectionShare.plain + ConnectionShare.http2 }
            #expect(memory.connections == ConnectionShare.plain + ConnectionShare.http2)
        }
    }

    @Test func `a connection to an upstream counts while it is open`() {
        runProxy { harness in
            let caller = harness.caller()
            caller.send(get)
            harness.upstream().accept().send(fine)
            caller.expect(fine)
            #expect(memory.connections == 2 * ConnectionShare.plain)
        }
    }

    @Test func `the connection that has been idle longest makes room for a new one`() {
        runProxy(room: 8 * ConnectionShare.plain) { harness in
            let callers = crowd(harness, 8)
            #expect(gone(callers) == [])
            let new = harness.caller()
            harness.settle()
            #expect(gone(callers) == [0])
            new.send(http("GET / HTTP/1.1", "host: app"))
            harness.upstream().accept().send(fine)
            new.expect(fine)
            #expect(metric(harness, "martlet_connections_evicted_total") != "0")
            #expect(hits(harness) == "0")
        }
    }

    @Test func `a flood of new connections closes the oldest of them, and those with part of a head`() {
        runProxy(room: 8 * ConnectionShare.plain) { harness in
            let partial = crowd(harness, 4, sending: "GET / HT", idle: .zero)
            let new = crowd(harness, 8, idle: .zero)
            #expect(gone(partial) == [0, 1, 2, 3])
            #expect(gone(new) == [])
            #expect(hits(harness) == "0")
        }
    }

    @Test func `an idle connection to an upstream closes before callers with part of a head`() {
        runProxy(room: 8 * ConnectionShare.plain) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.send(fine)
            caller.expect(fine)
            caller.close()
            let partial = crowd(harness, 7, sending: "GET / HT", idle: .zero)
            #expect(upstream.end == nil)
            _ = harness.caller()
            harness.settle()
            #expect(upstream.end != nil)
            #expect(gone(partial) == [])
        }
    }

    @Test func `connections with calls stay, and a caller for whom there is no room gets an error`() {
        runProxy(room: 8 * ConnectionShare.plain) { harness in
            let busy = crowd(harness, 4, sending: get, idle: .zero)
            #expect(memory.connections == 8 * ConnectionShare.plain)
            let rejected = harness.caller()
            // A connection may close meanwhile, so the caller is offered once more.
            harness.pass(.milliseconds(15))
            #expect(rejected.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            let text = "Martlet has reached its memory limit (limits.memory)"
            rejected.expect(#"{"code":"resource_exhausted","message":"\#(text)"}"#)
            #expect(gone(busy) == [])
            #expect(hits(harness) == "1")
        }
    }

    @Test func `calls are served while connections have used up their part, and callers while calls have`() {
        runProxy(room: 8 * ConnectionShare.plain) { harness in
            let busy = crowd(harness, 4, sending: get, idle: .zero)
            #expect(!memory.hasRoom(forConnection: 1) && !memory.isExhausted)
            let upstreams = busy.map { _ in harness.upstream().accept() }
            for upstream in upstreams { upstream.send(fine) }
            for caller in busy { caller.expect(fine) }
            let calls = memory.callLimit
            memory.add(calls)
            harness.pass(.seconds(1))
            let new = harness.caller()
            harness.settle()
            #expect(new.end == nil && memory.isExhausted == (memory.used > calls))
            memory.add(-calls)
            new.send(get)
            upstreams[3].send(fine)
            new.expect(fine)
            #expect(hits(harness) == "0")
        }
    }

    @Test func `heads that arrive in part lose their connections if tables hold too much`() {
        runProxy(http2Plain, room: 128 * 1024) { harness in
            let fields = (0..<120).flatMap { HPACK.kept(String(UnicodeScalar(UInt8(97 + $0 % 26))), "") }
            // All of them are open before the first one sends.
            let callers = (0..<8).map { _ in harness.http2Caller() }
            harness.settle()
            for caller in callers {
                caller.send(Frame(.headers, flags: 0, stream: 1, HPACK.literal(":method", "GET") + fields))
                harness.pass(.milliseconds(15))
            }
            #expect(gone(callers.map(\.peer)).count > 4)
            #expect(memory.connections <= memory.connectionLimit)
            #expect(metric(harness, "martlet_connections_evicted_total") != "0")
        }
    }

    @Test func `full HPACK tables count, and idle connections close for them`() {
        let limit = 256 * 1024
        runProxy(http2Plain, room: limit) { harness in
            // As many entries as a table of 4096 bytes takes.
            let fields = (0..<120).flatMap { HPACK.kept(String(UnicodeScalar(UInt8(97 + $0 % 26))), "") }
            let callers = (0..<16).map { _ in
                let caller = harness.http2Caller()
                let flags = Frame.Flag.endHeaders | Frame.Flag.end
                caller.send(Frame(.headers, flags: flags, stream: 1, HPACK.literal(":method", "GET") + fields))
                harness.pass(.milliseconds(15))
                harness.pass(.seconds(1))
                return caller
            }
            let closed = callers.indices.filter { callers[$0].frames.contains { $0.kind == .goaway } }
            #expect(closed.count > 4 && closed == Array(0..<closed.count))
            #expect(memory.connections <= limit + 64 * 1024)
        }
    }

    // MARK: TLS

    /// A caller in TLS, which says nothing.
    private func securedCaller(_ harness: ProxyHarness) throws -> ScriptedPeer {
        let (near, far) = (harness.watched(.done), MemoryTransport())
        MemoryTransport.join(near, far)
        let context = harness.worker.context
        let session = TLSSession(try TestCertificate.server(), output: context.sealed)
        let transport = TLSTransport(over: near, session, connecting: false, context: context)
        let peer = Peer(address: .ipv4([127, 0, 0, 1], port: 5123), credentials: nil)
        harness.worker.acceptors["127.0.0.1:8080"]?.acceptor.accept(transport, from: peer)
        return harness.peer(far)
    }

    private func shakeHands(_ caller: ScriptedPeer, _ harness: ProxyHarness) throws {
        let (output, plaintext) = (ByteQueue(), ByteQueue())
        let client = TLSSession(try TestCertificate.client(), resuming: TLSResumption(), output: output)
        client.start()
        var read = 0
        for _ in 0..<5 {
            if !output.isEmpty { caller.send(output.readable.array) }
            output.removeAll()
            harness.settle()
            let bytes = Array(caller.received[read...])
            read += bytes.count
            client.receive(bytes.span, into: plaintext, room: bytes.count + TLSSession.recordSize)
        }
        #expect(client.isEstablished)
    }

    @Test func `a TLS handshake counts for more than the connection after it`() throws {
        try runProxy(transports: [.memory]) { harness in
            let caller = try securedCaller(harness)
            harness.settle()
            #expect(memory.connections == ConnectionShare.handshake)
            try shakeHands(caller, harness)
            #expect(memory.connections == ConnectionShare.secured)
        }
    }

    @Test func `the oldest unfinished handshakes make room for new callers`() throws {
        try runProxy(room: 3 * ConnectionShare.handshake, transports: [.memory]) { harness in
            let callers = try (0..<20).map { _ in
                let caller = try securedCaller(harness)
                harness.pass(.milliseconds(15))
                return caller
            }
            #expect(memory.connections <= 3 * ConnectionShare.handshake)
            #expect(gone(callers) == Array(0..<17))
            try shakeHands(callers[19], harness)
            #expect(gone(callers) == Array(0..<17))
            #expect(hits(harness) == "0")
        }
    }
}
