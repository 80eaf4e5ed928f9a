import Bytes
import Events
import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// What is found to be stalled when memory is short, and what its end frees.
@Suite struct StalledMemoryTests {
    private static let streams = Array(stride(from: 1, to: 41, by: 2))
    private static let mebibyte = 1 << 20

    /// Many calls whose callers and upstream have opened all windows.
    private func begin(_ harness: ProxyHarness, end: Bool) -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller([.window: 1 << 30])
        caller.send(.window(0, 1 << 30))
        for stream in Self.streams { caller.send(.say(stream, "text/plain", end: end)) }
        let upstream = harness.upstream().acceptHTTP2(in: harness, [.window: 1 << 30])
        upstream.send(.window(0, 1 << 30))
        _ = upstream.rest()
        return (caller, upstream)
    }

    private func respond(_ upstream: HTTP2Peer, _ count: Int) {
        for stream in Self.streams {
            upstream.send(.response(stream))
            upstream.send(body: count, on: stream)
        }
    }

    /// Has a peer take all of the output, which fills again: the frame that finds no room in it has begun already.
    private func receiveSome(_ peer: HTTP2Peer, _ harness: ProxyHarness) {
        peer.peer.stopReading(room: 400 * 1024)
        harness.settle()
    }

    @Test func `the connection of a caller that reads nothing ends with its calls, and frees all that they hold`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: true)
            caller.peer.stopReading(room: 1024)
            respond(upstream, 200_000)
            harness.settle()
            #expect(harness.held > Self.mebibyte)
            #expect(harness.stalled(for: .second) == [])
            harness.pass(.milliseconds(1100))
            #expect(harness.stalled(for: .second) == [harness.held])
            harness.worker.shedStalled(1, for: .second)
            harness.settle()
            #expect(harness.held == 0)
            #expect(harness.livingCalls == 0)
            #expect(harness.eventLog.drain().last == "probe finished resource_exhausted by martlet")
            #expect(harness.memoryHits == "\(Self.streams.count)")
        }
    }

    @Test func `responses that nobody reads hold the connection, though their calls are over`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: true)
            caller.peer.stopReading(room: 1024)
            for stream in Self.streams {
                upstream.send(.response(stream))
                upstream.send(body: 5_000, on: stream)
                upstream.send(.data(stream, end: true))
            }
            harness.pass(.milliseconds(1100))
            #expect(harness.livingCalls == 0)
            #expect(harness.held > 100_000)
            #expect(harness.stalled(for: .second) == [harness.held])
            harness.worker.shedStalled(1, for: .second)
            harness.settle()
            #expect(harness.held == 0)
            #expect(harness.memoryHits == "1")
            caller.peer.startReading()
            caller.peer.expectGone()
        }
    }

    @Test func `a response of HTTP/1.1 that nobody reads holds the connection`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.stopReading(room: 1024)
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            let body = String(repeating: "x", count: 100_000)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 100000", body: body))
            harness.pass(.milliseconds(1100))
            #expect(harness.held > 90_000)
            #expect(harness.stalled(for: .second) == [harness.held])
            harness.worker.shedStalled(1, for: .second)
            harness.settle()
            #expect(harness.held == 0)
            caller.startReading()
            caller.expectGone()
        }
    }

    /// RST_STREAM waits behind what the upstream does not read.
    @Test func `canceled uploads free what they hold before the upstream reads of their end`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: false)
            upstream.peer.stopReading(room: 1024)
            for stream in Self.streams { caller.send(body: 200_000, on: stream) }
            harness.settle()
            #expect(harness.held > Self.mebibyte)
            receiveSome(upstream, harness)
            for stream in Self.streams { caller.send(.reset(stream, .cancel)) }
            harness.settle()
            #expect(harness.livingCalls == 0)
            #expect(harness.held < 300_000, "\(harness.held)")
            upstream.peer.startReading()
            harness.settle()
            for stream in Self.streams {
                #expect(upstream.receiveLines(of: stream).last == "\(stream) RST_STREAM CANCEL")
            }
            #expect(harness.held == 0)
        }
    }

    @Test(arguments: [true, false])
    func `responses that are broken off arrive first, and are freed for a caller that reads nothing`(_ reads: Bool) {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: true)
            caller.peer.stopReading(room: 1024)
            respond(upstream, 200_000)
            receiveSome(caller, harness)
            for stream in Self.streams { upstream.send(.reset(stream, .internalError)) }
            harness.settle()
            #expect(harness.held > Self.mebibyte)
            if reads {
                caller.peer.startReading()
                harness.settle()
                for stream in Self.streams {
                    #expect(caller.receiveLines(of: stream).last?.hasPrefix("\(stream) RST_STREAM ") == true)
                }
            } else {
                harness.pass(.milliseconds(1100))
                harness.worker.shedStalled(1, for: .second)
                harness.settle()
            }
            #expect(harness.livingCalls == 0)
            #expect(harness.held == 0)
        }
    }

    @Test func `a stream that waits for its turn on a connection that moves is not stalled`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: true)
            caller.peer.stopReading(room: 64 * 1024)
            respond(upstream, 200_000)
            for round in 2..<8 {
                harness.pass(.milliseconds(500))
                caller.peer.stopReading(room: round * 64 * 1024)
                harness.settle()
            }
            #expect(harness.stalled(for: 600 * .millisecond) == [])
            harness.pass(.milliseconds(700))
            #expect(harness.stalled(for: 600 * .millisecond) == [harness.held])
            harness.worker.shedStalled(1, for: .second / 2)
        }
    }

    @Test func `uploads of which the upstream takes nothing are stalled, each for itself`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, end: false)
            upstream.peer.stopReading(room: 1024)
            for stream in Self.streams { caller.send(body: 200_000, on: stream) }
            harness.pass(.milliseconds(1100))
            #expect(harness.stalled(for: .second).count == Self.streams.count)
            harness.worker.shedStalled(3, for: .second)
            harness.settle()
            #expect(harness.livingCalls == Self.streams.count - 3)
            #expect(harness.memoryHits == "3")
            harness.worker.shedStalled(.max, for: .second)
            harness.settle()
            #expect(harness.livingCalls == 0)
            #expect(harness.held < 300_000, "\(harness.held)")
        }
    }

    @Test func `what waits of a request goes with its response`() {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain"))
            let upstream = harness.upstream().acceptHTTP2(in: harness, [.window: 0])
            _ = upstream.next()
            caller.send(body: 1 << 20, on: 1)
            #expect(harness.held > 100_000)
            upstream.send(.response(1, 403, end: true))
            caller.expect("1 HEADERS/end :status: 403 | x-trace: probe")
            #expect(harness.held == 0)
            caller.expectRejection(1)
        }
    }

    // MARK: Messages

    private static let messages = """
        listen: 127.0.0.1:8080
        upstream: h2c://127.0.0.1:9000
        interceptors: [{metrics: {}}, {gate: {sees: ["request message", "response message"]}}]
        """
    /// The first bytes of a message of a mebibyte in an envelope.
    private static let part: [UInt8] = [0, 0, 0x10, 0, 0] + [UInt8](repeating: 0x78, count: 16_000)

    @Test(arguments: ["application/grpc", "application/json"])
    func `a request that stops within a message is stalled`(_ type: String) {
        runProxy(Self.messages) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type), .data(1, Self.part))
            // A bare message goes nowhere before it is whole.
            if type == "application/grpc" { _ = harness.upstream().acceptHTTP2(in: harness).next() }
            harness.pass(.milliseconds(900))
            caller.send(.data(1, Array(Self.part.dropFirst(5))))
            harness.pass(.milliseconds(900))
            #expect(harness.stalled(for: .second) == [])
            harness.pass(.milliseconds(200))
            #expect(harness.stalled(for: .second) == [harness.held])
            #expect(harness.held > 32_000)
            harness.worker.shedStalled(1, for: .second)
            #expect(caller.next().contains(type == "application/grpc" ? "grpc-status: 8" : ":status: 503"))
            harness.settle()
            #expect(harness.held == 0)
            #expect(harness.livingCalls == 0)
        }
    }

    @Test(arguments: ["application/grpc", "application/json"])
    func `a response that stops within a message is stalled`(_ type: String) {
        runProxy(Self.messages) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, ["content-type": type]), .data(1, Self.part))
            harness.pass(.milliseconds(1100))
            #expect(harness.stalled(for: .second) == [harness.held])
            harness.worker.shedStalled(1, for: .second)
            harness.settle()
            #expect(harness.held == 0)
            #expect(harness.livingCalls == 0)
        }
    }

    // MARK: What Martlet does

    @Test func `a call is stalled once its interceptor or its connection takes unusually long, and not before`() {
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: h2c://127.0.0.1:9000
            interceptors: [{metrics: {}}, {gate: {hold: ["request head", "response message 1"]}}]
            """
        runProxy(yaml) { harness in
            func expectPatience() {
                harness.pass(.milliseconds(900))
                #expect(harness.stalled(for: 10 * .millisecond) == [])
            }
            harness.upstream().behaviour = .hangs
            let caller = harness.http2Caller()
            let message: [UInt8] = [0, 0, 0, 0x20, 0] + [UInt8](repeating: 0x78, count: 8192)
            caller.send(.say(1, "application/grpc"), .data(1, message))
            expectPatience()
            harness.pass(.milliseconds(200))
            #expect(harness.stalled(for: 10 * .millisecond).count == 1)
            // Another phase begins.
            harness.gates["gate"].release()
            expectPatience()
            harness.pass(.milliseconds(200))
            #expect(harness.stalled(for: 10 * .millisecond).count == 1)
            harness.upstream().admit()
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.rest()
            harness.pass(.seconds(2))
            #expect(harness.stalled(for: 10 * .millisecond) == [])
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, message))
            expectPatience()
            harness.pass(.milliseconds(200))
            #expect(harness.stalled(for: 10 * .millisecond).count == 1)
            harness.worker.shedStalled(1, for: 10 * .millisecond)
            harness.settle()
            #expect(harness.held == 0)
        }
    }

    // MARK: What is kept for a retry

    @Test func `what is kept for a retry is released, and its call goes on`() {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain"), .data(1, [UInt8](repeating: 0x78, count: 8192)))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.rest()
            #expect(harness.held > 8192)
            harness.worker.releaseSpares()
            harness.settle()
            #expect(harness.held == Call.size)
            caller.send(.data(1, "x", end: true))
            upstream.expect("1 DATA/end x")
            upstream.send(.response(1, end: true))
            caller.expect("1 HEADERS/end :status: 200 | x-trace: probe")
        }
    }

    @Test func `what the next attempt sends is no spare`() {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain"), .data(1, "kept", end: true))
            let first = harness.upstream().acceptHTTP2(in: harness)
            _ = first.rest()
            harness.upstream().behaviour = .hangs
            first.send(.goaway(0))
            harness.settle()
            harness.worker.releaseSpares()
            harness.upstream().admit()
            let second = harness.upstream().acceptHTTP2(in: harness)
            #expect(second.next().hasPrefix("1 HEADERS "))
            second.expect("1 DATA/end kept")
            second.send(.response(1, end: true))
            caller.expect("1 HEADERS/end :status: 200 | x-trace: probe")
        }
    }
}

extension ProxyHarness {
    /// How many bytes the worker has set aside for calls.
    fileprivate var held: Int { worker.context.meter.bytes }

    /// What stalled calls and connections hold.
    fileprivate func stalled(for patience: Duration) -> [Int] {
        worker.stalledMemory(for: patience).map(\.bytes)
    }

    /// How many calls have ended for their memory.
    fileprivate var memoryHits: String? {
        metrics("martlet_limit_hits_total{limit=\"memory\"}").first.map { String($0.split(separator: " ").last!) }
    }
}
