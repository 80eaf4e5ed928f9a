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

    @Test func `callers with part of a head close before idle ones, and connections to upstreams last`() {
        runProxy(room: 6 * ConnectionShare.plain) { harness in
            let idle = harness.caller()
            idle.send(get)
            let upstream = harness.upstream().accept()
            upstream.send(fine)
            idle.expect(fine)
            let partial = crowd(harness, 4, sending: "GET / HT", idle: .zero)
            let new = crowd(harness, 4, idle: .zero)
            #expect(gone(partial) == [0, 1, 2, 3])
            #expect(gone(new + [idle]) == [] && upstream.end == nil)
            let more = crowd(harness, 1, idle: .zero)
            #expect(idle.end != nil && upstream.end == nil)
            // All of them have calls now, and the upstream serves one more.
            for caller in new + more { caller.send(get) }
            harness.settle()
            #expect(gone(new + more) == [])
        }
    }

    @Test func `an idle connection to an upstream closes when all callers have calls`() {
        let streams = """
            listen: 127.0.0.1:8080
            interceptors: [{when: {path: /stay}, fault: {delay: 1m}}]
            upstream: http://127.0.0.1:9000
            """
        runProxy(streams, room: 8 * ConnectionShare.plain) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.send(fine)
            caller.expect(fine)
            caller.close()
            let stay = http("GET /stay HTTP/1.1", "host: app")
            let busy = crowd(harness, 7, sending: stay, idle: .zero)
            #expect(upstream.end == nil)
            let new = harness.caller()
            harness.settle()
            #expect(upstream.end != nil && new.end == nil)
            #expect(gone(busy) == [])
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

    // MARK: Connections with calls

    /// Callers, each with a stream that sends nothing.
    private func silentCallers(_ harness: ProxyHarness, _ count: Int) -> [HTTP2Peer] {
        (0..<count).map { _ in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"))
            harness.pass(.milliseconds(15))
            return caller
        }
    }

    /// Has a caller fill its table of HPACK, with a request that is rejected.
    private func fillTable(_ caller: HTTP2Peer, _ harness: ProxyHarness) {
        let fields = (0..<120).flatMap { HPACK.kept(String(UnicodeScalar(UInt8(97 + $0 % 26))), "") }
        let flags = Frame.Flag.endHeaders | Frame.Flag.end
        caller.send(Frame(.headers, flags: flags, stream: 3, HPACK.literal(":method", "GET") + fields))
        harness.pass(.milliseconds(15))
    }

    @Test func `the largest connections with calls end when connections hold half of the limit`() {
        runProxy(http2Plain) { harness in
            let callers = silentCallers(harness, 18)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            memory.limit = 3 * memory.connections
            for caller in callers { fillTable(caller, harness) }
            let ended = gone(callers.map(\.peer))
            #expect(ended.count > 4 && ended == Array(0..<ended.count), "\(ended)")
            for index in ended {
                #expect(callers[index].frames.contains { $0.kind == .goaway })
                #expect(callers[index].receiveLines(of: 1).contains { $0.contains("grpc-status: 8") })
            }
            #expect(hits(harness) == "\(ended.count)")
            #expect(memory.connections <= memory.limit / 2 + 64 * 1024)
            #expect(!memory.isExhausted)
            callers[17].send(.say(5, "application/grpc", end: true))
            harness.settle()
            #expect(callers[17].receiveLines(of: 5) == [])
            #expect(upstream.frames.filter { $0.kind == .headers }.count >= callers.count + 1)
        }
    }

    @Test func `connections with silent calls end before one whose call is active`() {
        runProxy(http2Plain) { harness in
            let callers = silentCallers(harness, 18)
            _ = harness.upstream().acceptHTTP2(in: harness)
            // Connections exceed their part from now on, but not a half.
            memory.limit = 3 * memory.connections
            for caller in callers[..<3] { fillTable(caller, harness) }
            for _ in 0..<4 {
                harness.pass(.milliseconds(300))
                callers[0].send(.data(1, Array(envelope("a").utf8)))
            }
            for caller in callers[3...] {
                callers[0].send(.data(1, Array(envelope("a").utf8)))
                fillTable(caller, harness)
            }
            let ended = gone(callers.map(\.peer))
            #expect(ended.count > 4 && ended == Array(1..<ended.count + 1), "\(ended)")
        }
    }

    @Test func `a search that finds nothing is not repeated immediately`() throws {
        try runProxy(room: 8 * ConnectionShare.plain) { harness in
            let busy = crowd(harness, 4, sending: get, idle: .zero)
            let reclaimer = try #require(harness.worker.context.reclaimer)
            let (acceptors, more) = (reclaimer.acceptors, ConnectionShare.plain)
            memory.addConnections(more)
            harness.pass(.milliseconds(15))
            var looks = 0
            reclaimer.acceptors = {
                looks += 1
                return acceptors()
            }
            func check(_ times: Int) {
                for _ in 0..<times {
                    reclaimer.checkSoon()
                    harness.settle()
                }
            }
            check(1)
            let once = looks
            check(20)
            #expect(looks == once)
            // What was asked for meanwhile is done later.
            harness.pass(.milliseconds(15))
            #expect(looks == 2 * once)
            #expect(gone(busy) == [])
            memory.addConnections(-more)
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

    @Test func `unfinished handshakes close before idle callers and connections to upstreams`() throws {
        let room = 2 * ConnectionShare.plain + 3 * ConnectionShare.handshake
        try runProxy(room: room, transports: [.memory]) { harness in
            let idle = harness.caller()
            idle.send(get)
            let upstream = harness.upstream().accept()
            upstream.send(fine)
            idle.expect(fine)
            harness.pass(.seconds(1))
            let flood = try (0..<12).map { _ in
                let caller = try securedCaller(harness)
                harness.pass(.milliseconds(15))
                return caller
            }
            #expect(gone(flood) == Array(0..<9))
            #expect(idle.end == nil && upstream.end == nil)
        }
    }
}
