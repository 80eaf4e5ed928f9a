import HTTP
import Testing

/// How exchanges with an upstream follow each other, and how they end.
@Suite struct UpstreamExchangeTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    @Test func `one exchange follows the other`() {
        let upstream = ScriptedUpstream()
        for _ in 0..<3 {
            #expect(!upstream.session.isBusy)
            upstream.opens().stream?.send(head: Message.request("GET"), end: true)
            #expect(upstream.session.isBusy)
            upstream.responses(Self.ok)
        }
        #expect(upstream.saw == Array(repeating: ["response 200 OK length=0", "end", "idle"], count: 3).flatMap { $0 })
    }

    @Test func `bytes behind a response never become the response to the next request`() {
        let upstream = ScriptedUpstream.asked()
        upstream.whenIdle = { [unowned upstream] in
            upstream.opens().stream?.send(head: Message.request("GET", "/next"), end: true)
        }
        upstream.responses(Self.ok + "HTTP/1.1 200 Poisoned\r\nContent-Length: 0\r\n\r\n")
        #expect(upstream.saw == ["response 200 OK length=0", "end", "closed"])
        #expect(upstream.receive() == "GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    }

    @Test func `bytes on an idle connection close it`() {
        let upstream = ScriptedUpstream.asked()
        upstream.responses(Self.ok)
        upstream.responses("H")
        #expect(upstream.saw.suffix(2) == ["idle", "closed"])
    }

    @Test func `a response before the request is no response`() {
        let upstream = ScriptedUpstream()
        upstream.opens()
        upstream.responses(Self.ok)
        #expect(upstream.saw == ["closed", "reset: fault \(HTTPError.unexpectedBytes)"])
    }

    @Test func `a response before the end of the request ends both, and the connection`() throws {
        let upstream = ScriptedUpstream()
        let stream = try #require(upstream.opens().stream)
        stream.send(head: Message.request(length: 5), end: false)
        stream.send(body: "hel")
        _ = upstream.receive()
        upstream.responses("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno")
        #expect(upstream.saw == ["drained", "response 413 No length=2", "body no", "end", "closed"])
        stream.send(body: "lo")
        stream.sendEnd(trailers: nil)
        #expect(upstream.receive() == "")
    }

    @Test func `an early response goes on while the request does`() throws {
        let upstream = ScriptedUpstream()
        let stream = try #require(upstream.opens().stream)
        stream.send(head: Message.request(), end: false)
        upstream.responses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        stream.send(body: "y")
        stream.sendEnd(trailers: nil)
        upstream.responses("0\r\n\r\n")
        #expect(upstream.saw == ["response 200 OK", "body x", "end", "idle"])
    }

    @Test func `a reset closes the connection and reports nothing`() {
        let upstream = ScriptedUpstream()
        let user = upstream.opens()
        user.stream?.send(head: Message.request("GET"), end: true)
        user.stream?.reset(.canceled)
        upstream.responses(Self.ok)
        upstream.hangsUp()
        #expect(upstream.saw == ["closed"])
        #expect(!upstream.session.isBusy)
    }

    @Test func `a pause does not outlive its exchange`() {
        let upstream = ScriptedUpstream()
        let user = upstream.opens()
        user.whenBody = { $0.pause(.slowPeer) }
        user.stream?.send(head: Message.request("GET"), end: true)
        upstream.responses("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        upstream.responses("surplus")
        #expect(upstream.saw.suffix(3) == ["end", "idle", "closed"])
    }

    @Test func `bytes that come while a stream is paused are left, and given when it goes on`() throws {
        let upstream = ScriptedUpstream.asked()
        let user = upstream.opensPaused()
        upstream.responses("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        #expect(upstream.saw.isEmpty)
        user.resume(.slowPeer)
        upstream.responses("")
        #expect(upstream.saw == ["response 200 OK length=2", "body hi", "end", "idle"])
    }

    @Test func `draining closes an idle connection at once`() {
        let upstream = ScriptedUpstream()
        upstream.session.drain()
        #expect(upstream.saw == ["closed"])
    }

    @Test func `draining lets the exchange under way end`() {
        let upstream = ScriptedUpstream.asked()
        upstream.session.drain()
        #expect(!upstream.isClosed)
        upstream.responses(Self.ok)
        #expect(upstream.saw == ["response 200 OK length=0", "end", "closed"])
    }
}

extension ScriptedUpstream {
    /// The stream of the exchange under way, paused.
    fileprivate func opensPaused() -> any HTTPStream {
        session.pause(.slowPeer)
        return session
    }
}
