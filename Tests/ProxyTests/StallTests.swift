import Events
import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// What ends by itself when a caller neither sends nor reads, or no connection is free.
@Suite struct StallTests {
    private static let upload = http("POST /up HTTP/1.1", "host: app", "content-length: 1000", body: "abc")
    private static let tooLate = "no byte of the request body arrived within timeouts.body"

    private static func limited(_ upstream: String, listener: String = "") -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off, timeouts: {\(listener)}}]
        upstreams: {default: {url: "http://127.0.0.1:9000", \(upstream)}}
        """
    }

    // MARK: Bodies

    @Test func `an upload that stops ends after its limit, with an error that names it`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.send(Self.upload)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            harness.passInSteps(50)
            caller.send("d")
            harness.passInSteps(58)
            caller.expectNothing()
            harness.passInSteps(8)
            #expect(caller.head().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(String(decoding: caller.receiveAll(), as: UTF8.self).contains(Self.tooLate))
            harness.passInSteps(3)
            caller.expectGone()
            upstream.expectGone()
            #expect(harness.hits("body_timeout") == 1)
        }
    }

    @Test(arguments: [
        ("application/json", true), ("application/grpc", false), ("application/connect+json", false),
        ("text/plain", true),
    ])
    func `a unary body over HTTP 2 has the limit, and a stream of messages has none`(_ type: String, _ ends: Bool) {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type), .data(1, type.contains("grpc") ? envelope("a") : "{"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.rest()
            harness.passInSteps(58)
            caller.expectNothing()
            harness.passInSteps(ends ? 8 : 200)
            #expect(harness.livingCalls == (ends ? 0 : 1))
            #expect(harness.hits("body_timeout") == (ends ? 1 : 0))
            guard ends else { return }
            #expect(caller.next().contains(":status: 408"))
            #expect(caller.next().contains(Self.tooLate))
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test func `an upload that the upstream holds back has all the time it needs`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.send(http("POST /up HTTP/1.1", "host: app", "content-length: 1000000"))
            let upstream = harness.upstream().accept()
            upstream.stopReading(room: 1024)
            caller.send(String(repeating: "x", count: 500_000))
            harness.passInSteps(300)
            #expect(harness.livingCalls == 1)
            upstream.startReading()
            harness.passInSteps(50)
            #expect(harness.livingCalls == 1)
            harness.passInSteps(20)
            #expect(harness.livingCalls == 0)
            #expect(harness.hits("body_timeout") == 1)
        }
    }

    @Test func `a caller that waits for 100 Continue owes nothing until then`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            let head = http("POST /up HTTP/1.1", "host: app", "content-length: 10", "expect: 100-continue")
            caller.send(head)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            harness.passInSteps(200)
            caller.expectNothing()
            upstream.send(http("HTTP/1.1 100 Continue"))
            caller.expect(http("HTTP/1.1 100 Continue"))
            harness.passInSteps(58)
            caller.expectNothing()
            harness.passInSteps(8)
            #expect(caller.head().hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test func `none ends no upload`() {
        runProxy(Self.limited("", listener: "body: none, stalled: none")) { harness in
            let caller = harness.caller()
            caller.send(Self.upload)
            _ = harness.upstream().accept().head()
            harness.passInSteps(600)
            #expect(harness.livingCalls == 1)
        }
    }

    @Test func `callers have all of their limit after the machine was suspended`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.send(Self.upload)
            _ = harness.upstream().accept().head()
            harness.passInSteps(10)
            harness.pass(.seconds(8 * 3600))
            harness.passInSteps(50)
            #expect(harness.livingCalls == 1)
            harness.passInSteps(30)
            #expect(harness.livingCalls == 0)
        }
    }

    // MARK: Readers

    @Test func `a response over HTTP 1 that is not read ends after its limit`() {
        runProxy(plain + "\ninterceptors: [{probe: {}}]") { harness in
            let caller = harness.caller()
            caller.stopReading(room: 1024)
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            let body = String(repeating: "x", count: 400_000)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 500000", body: body))
            harness.passInSteps(58)
            #expect(harness.livingCalls == 1)
            harness.passInSteps(8)
            #expect(harness.eventLog.drain().last == "probe finished deadline_exceeded by martlet")
            caller.startReading()
            caller.expectGone()
            upstream.expectGone()
            #expect(harness.hits("stalled") == 1)
            let line = harness.messages.withLock { $0.first { $0.hasPrefix("caller reads nothing") } }
            #expect(line?.contains("limit=timeouts.stalled") == true)
        }
    }

    @Test func `a download whose caller reads a little at a time goes on`() {
        runProxy(plain) { harness in
            let caller = harness.caller()
            caller.stopReading(room: 1024)
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            let body = String(repeating: "x", count: 400_000)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 400000", body: body))
            for round in 1..<6 {
                harness.passInSteps(50)
                caller.stopReading(room: 1024 + round * 1024)
            }
            #expect(harness.livingCalls == 1)
        }
    }

    // MARK: Waiting

    @Test func `a call that gets no connection fails after its limit`() {
        runProxy(Self.limited("limits: {connections: 1}, timeouts: {connect: 1s, waiting: 5s}")) { harness in
            let callers = (harness.caller(), harness.caller())
            callers.0.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            callers.1.send(say)
            harness.pass(.milliseconds(5900))
            callers.1.expectNothing()
            harness.pass(.milliseconds(200))
            #expect(callers.1.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            let message = "upstream default: no connection was free within timeouts.waiting"
            callers.1.expect(#"{"code":"unavailable","message":"\#(message)"}"#)
            #expect(harness.hits("waiting_timeout") == 1)
            upstream.send(fine)
            callers.0.expect(fine)
        }
    }

    // MARK: Connections that stalled calls hold

    @Test func `stalled uploads and unread responses make room for the next call within a second`() {
        let count = 32
        runProxy(Self.limited("limits: {connections: \(count), waiting: \(count)}")) { harness in
            for index in 0..<count {
                let caller = harness.caller()
                caller.stopReading(room: 1024)
                caller.send(index % 2 == 0 ? Self.upload : get)
                let upstream = harness.upstream().accept()
                _ = upstream.head()
                guard index % 2 == 1 else { continue }
                let body = String(repeating: "x", count: 200_000)
                upstream.send(http("HTTP/1.1 200 OK", "content-length: 500000", body: body))
            }
            let http2 = harness.http2Caller()
            for index in 0..<count {
                http2.send(.say(2 * index + 1, "text/plain", ("content-length", "10")), .data(2 * index + 1, "abc"))
            }
            let caller = harness.caller()
            caller.send(get)
            let isServed = (0..<50).contains { _ in
                harness.pass(.milliseconds(20))
                return harness.upstream().hasReceived("GET /pkg.Service/Look ")
            }
            #expect(isServed)
            #expect(harness.hits("waiting") == 0)
            harness.passInSteps(80)
            #expect(harness.livingCalls == 1)
            let ended = ["upstream_connections", "body_timeout", "waiting_timeout"].map { harness.hits($0) }
            #expect(ended.reduce(0, +) == 2 * count)
        }
    }

    private static let unix = """
        listeners: [{address: "unix:@martlet-test", proxy_status: off}]
        upstreams: {default: {url: "http://127.0.0.1:9000", limits: {connections: 4}}}
        """

    private static let stream = http(
        "POST /a.B/Watch HTTP/1.1",
        "host: a",
        "content-type: application/connect+json",
        "transfer-encoding: chunked"
    )

    /// Streams of a user that have all connections, and the calls that come after them.
    private func beginStreams(_ harness: ProxyHarness, _ count: Int) {
        let user = Peer(address: nil, credentials: PeerCredentials(uid: 1000, gid: 1000))
        for _ in 0..<count { harness.caller(on: "unix:@martlet-test", as: user).send(Self.stream) }
        harness.passInSteps(600)
        #expect(harness.livingCalls == count)
    }

    @Test func `silent streams of one user make room for another user`() {
        runProxy(Self.unix) { harness in
            beginStreams(harness, 4)
            let other = Peer(address: nil, credentials: PeerCredentials(uid: 1001, gid: 1001))
            harness.caller(on: "unix:@martlet-test", as: other).send(get)
            let isServed = (0..<50).contains { _ in
                harness.pass(.milliseconds(20))
                return harness.upstream().hasReceived("GET /pkg.Service/Look ")
            }
            #expect(isServed)
            #expect(harness.livingCalls == 4)
            #expect(harness.hits("upstream_connections") == 1)
        }
    }

    @Test func `silent streams of one user that also fill the queue make room for another user`() {
        runProxy(Self.unix.replacing("connections: 4", with: "connections: 2, waiting: 2")) { harness in
            beginStreams(harness, 2)
            let user = Peer(address: nil, credentials: PeerCredentials(uid: 1000, gid: 1000))
            for _ in 0..<3 { harness.caller(on: "unix:@martlet-test", as: user).send(Self.stream) }
            harness.pass(.milliseconds(20))
            #expect((harness.livingCalls, harness.hits("waiting")) == (4, 1))
            let other = Peer(address: nil, credentials: PeerCredentials(uid: 1001, gid: 1001))
            harness.caller(on: "unix:@martlet-test", as: other).send(get)
            let isServed = (0..<50).contains { _ in
                harness.pass(.milliseconds(20))
                return harness.upstream().hasReceived("GET /pkg.Service/Look ")
            }
            #expect(isServed)
            #expect(harness.hits("waiting") == 2)
        }
    }

    @Test func `calls whose requests the upstream has keep their connections for 5 s`() {
        runProxy(Self.unix.replacing("connections: 4", with: "connections: 1")) { harness in
            let user = Peer(address: nil, credentials: PeerCredentials(uid: 1000, gid: 1000))
            let unary = http(
                "POST /a.B/C HTTP/1.1",
                "host: a",
                "content-type: application/grpc-web",
                "content-length: 5"
            )
            harness.caller(on: "unix:@martlet-test", as: user).send(
                unary + String(decoding: [0, 0, 0, 0, 0], as: UTF8.self)
            )
            harness.pass(.milliseconds(20))
            let other = Peer(address: nil, credentials: PeerCredentials(uid: 1001, gid: 1001))
            harness.caller(on: "unix:@martlet-test", as: other).send(get)
            harness.passInSteps(4)
            #expect((harness.livingCalls, harness.hits("upstream_connections")) == (2, 0))
            harness.passInSteps(3)
            #expect(harness.hits("upstream_connections") == 1)
        }
    }

    @Test func `silent streams do not end for calls of their own user`() {
        runProxy(Self.unix) { harness in
            beginStreams(harness, 4)
            let user = Peer(address: nil, credentials: PeerCredentials(uid: 1000, gid: 1000))
            let caller = harness.caller(on: "unix:@martlet-test", as: user)
            caller.send(get)
            harness.passInSteps(14)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 "))
            #expect(harness.livingCalls == 4)
        }
    }

    // MARK: For operators

    @Test func `the calls in progress show what has stalled, and since when`() {
        runProxy(plain) { harness in
            harness.caller().send(Self.upload)
            _ = harness.upstream().accept().head()
            harness.passInSteps(30)
            let text = harness.worker.activeCalls.map { String(decoding: $0.text, as: UTF8.self) }.joined()
            #expect(text.contains(#""stalled":"request_body","stalled_ms":2"#))
            #expect(harness.worker.stalledCalls.count == 1)
            #expect(harness.worker.stalledCalls.longest > .seconds(20))
        }
    }
}

extension ProxyHarness {
    /// Lets seconds pass one by one, so that the worker looks at its calls meanwhile.
    fileprivate func passInSteps(_ seconds: Int) {
        for _ in 0..<seconds {
            clock.now += .second
            for _ in 0..<3 { turn() }
        }
        settle()
    }

    /// How often a limit was reached.
    fileprivate func hits(_ limit: String) -> Int {
        let line = metrics("martlet_limit_hits_total{limit=\"\(limit)\"}").first
        return line.flatMap { Int($0.split(separator: " ").last!) } ?? 0
    }
}

extension ScriptedUpstream {
    /// Whether a connection that the test has not accepted has brought a request with this prefix.
    fileprivate func hasReceived(_ prefix: String) -> Bool {
        unaccepted.contains { $0.received.starts(with: prefix.utf8) }
    }
}
