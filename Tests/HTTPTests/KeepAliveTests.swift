import HTTP
import Testing

/// When a caller's connection goes on after a response, and with what.
@Suite struct KeepAliveTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"

    @Test(arguments: [
        ("HTTP/1.1", "", "", false), ("HTTP/1.1", "keep-alive", "", false), ("HTTP/1.1", "close", "close", true),
        ("HTTP/1.1", "x, Close", "close", true), ("HTTP/1.1", "close, keep-alive", "close", true),
        ("HTTP/1.1", "closed", "", false),
        ("HTTP/1.0", "", "close", true), ("HTTP/1.0", "Keep-Alive", "keep-alive", false),
        ("HTTP/1.0", "keep-alive, close", "close", true),
    ])
    func `the version and Connection decide`(version: String, connection: String, response: String, closes: Bool) {
        let caller = ScriptedCaller.served()
        let field = connection.isEmpty ? "" : "Connection: \(connection)\r\n"
        caller.sends("GET / \(version)\r\nHost: a\r\n\(field)\r\n")
        let said = response.isEmpty ? "" : "connection: \(response)\r\n"
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\n\(said)content-length: 0\r\n\r\n")
        #expect(caller.isClosed == closes)
    }

    @Test func `requests sent ahead are answered one after the other`() {
        let bytes =
            "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
            + "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n" + Self.get
        let seen = outcome(of: bytes) { .served() }
        #expect(seen?.sent == String(repeating: Self.ok, count: 4))
        #expect(seen?.saw.filter { $0.hasPrefix("request") }.count == 4)
    }

    @Test func `a request sent ahead waits for the response before it`() throws {
        let caller = ScriptedCaller()
        caller.sends(Self.get + Self.get)
        #expect(caller.users.count == 1)
        #expect(caller.unread == Self.get.utf8.count)
        #expect(caller.session.isBusy)
        try #require(caller.users[0].stream).response(200)
        caller.sends("")
        #expect(caller.users.count == 2)
    }

    @Test func `what follows a request that closes the connection is not looked at`() {
        let caller = ScriptedCaller.served()
        caller.sends("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + Self.get)
        #expect(caller.users.count == 1)
        #expect(caller.unread == 0)
    }

    @Test func `responses that are not taken hold further requests back`() {
        let caller = ScriptedCaller()
        let body = String(repeating: "x", count: 100_000)
        caller.whenOpened = { user, _ in user.whenEnd = { $0.response(200, body: body) } }
        caller.sends(String(repeating: Self.get, count: 10))
        #expect(caller.users.count == 3)
        _ = caller.receive()
        #expect(caller.users.count == 6)
    }

    @Test func `the rest of a request that has been answered is thrown away`() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
        let seen = outcome(of: head + "hello" + Self.get) {
            let caller = ScriptedCaller()
            caller.whenOpened = { _, stream in stream.response(200) }
            return caller
        }
        #expect(seen?.saw == ["request POST / host=a length=5", "idle", "request GET / host=a", "end", "idle"])
        #expect(seen?.sent == Self.ok + Self.ok)
    }

    @Test func `no more than the limit is thrown away`() {
        let caller = ScriptedCaller(limits: HTTPLimits(discard: 10))
        caller.whenOpened = { _, stream in stream.response(413) }
        caller.sends("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n0123456789")
        #expect(!caller.isClosed)
        caller.sends("x")
        #expect(caller.saw.last == "closed, lingering")
    }

    @Test func `a error in what is thrown away closes the connection without a second response`() {
        let caller = ScriptedCaller()
        caller.whenOpened = { _, stream in stream.response(200) }
        caller.sends("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nx\r\n" + Self.get)
        #expect(caller.saw == ["request POST / host=a", "closed, lingering"])
        #expect(caller.receive() == Self.ok)
    }

    @Test func `a bad request behind one whose rest was thrown away is still rejected`() {
        let caller = ScriptedCaller()
        caller.whenOpened = { _, stream in stream.response(200) }
        caller.sends("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n")
        #expect(caller.saw.suffix(2) == ["rejected: \(HTTPError.missingHost)", "closed, lingering"])
    }

    // MARK: 100 Continue

    private static let expecting = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n"

    @Test func `a caller that is reported to continue keeps its connection`() throws {
        let caller = ScriptedCaller.served()
        caller.sends(Self.expecting)
        #expect(caller.saw == ["request POST / host=a length=2 expects=continue"])
        try #require(caller.users[0].stream).send(informational: Message.response(100))
        #expect(caller.receive() == "HTTP/1.1 100 Continue\r\n\r\n")
        caller.sends("hi")
        #expect(caller.receive() == Self.ok)
        #expect(!caller.isClosed)
    }

    @Test func `a caller that is answered instead may or may not send the body, so its connection ends`() throws {
        let caller = ScriptedCaller()
        caller.sends(Self.expecting)
        try #require(caller.users[0].stream).response(403)
        #expect(caller.receive() == "HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        #expect(caller.saw.last == "closed, lingering")
    }

    @Test func `a caller that does not wait needs no word`() {
        let caller = ScriptedCaller.served()
        caller.sends(Self.expecting + "hi" + Self.get)
        #expect(caller.receive() == Self.ok + Self.ok)
    }

    // MARK: Draining

    @Test func `draining closes an idle connection at once`() {
        let caller = ScriptedCaller.served()
        caller.sends(Self.get)
        caller.session.drain()
        #expect(caller.saw.suffix(2) == ["idle", "closed"])
    }

    @Test func `draining lets the exchange under way end and says so`() throws {
        let caller = ScriptedCaller()
        caller.sends(Self.get + Self.get)
        caller.session.drain()
        #expect(!caller.isClosed)
        try #require(caller.users[0].stream).response(200)
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        caller.sends("")
        #expect(caller.saw == ["request GET / host=a", "end", "closed, lingering"])
    }

    @Test func `draining serves a request whose head has begun to come`() {
        let caller = ScriptedCaller.served()
        caller.sends("GET / HTTP")
        caller.session.drain()
        caller.sends("/1.1\r\nHost: a\r\n\r\n")
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        #expect(caller.isClosed)
    }

    @Test func `an announced close waits for one more exchange, whose response says it`() {
        let caller = ScriptedCaller.served()
        caller.sends(Self.get)
        #expect(caller.receive() == Self.ok)
        caller.session.announceClose()
        #expect(!caller.isClosed)
        caller.sends(Self.get + Self.get)
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        #expect(caller.saw.suffix(3) == ["request GET / host=a", "end", "closed, lingering"])
    }

    @Test func `an announced close is said by the response under way, if its head is not out`() throws {
        let caller = ScriptedCaller()
        caller.sends(Self.get)
        caller.session.announceClose()
        try #require(caller.users[0].stream).response(200)
        #expect(caller.receive() == "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        #expect(caller.isClosed)
    }

    @Test func `a response whose head is out when a close is announced is not the last`() throws {
        let caller = ScriptedCaller()
        caller.sends(Self.get)
        let stream = try #require(caller.users[0].stream)
        stream.send(head: Message.response(200), end: false)
        caller.session.announceClose()
        stream.sendEnd(trailers: nil)
        #expect(caller.saw.last == "idle")
        #expect(!caller.session.isAtRest)
        _ = caller.receive()
        caller.sends(Self.get)
        try #require(caller.users[1].stream).response(200)
        #expect(caller.receive().contains("\r\nconnection: close\r\n"))
        #expect(caller.isClosed)
    }

    // MARK: What the owner looks at

    @Test func `a head in transit is reported from a body in transit`() {
        let caller = ScriptedCaller()
        #expect(!caller.session.isReadingHead && !caller.session.isBusy)
        caller.sends("POST / HT")
        #expect(caller.session.isReadingHead && !caller.session.isBusy)
        caller.sends("TP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel")
        #expect(!caller.session.isReadingHead && caller.session.isBusy)
        caller.session.headTimedOut()
        #expect(!caller.isClosed)
    }
}
