import Bytes
import HTTP
import Testing

/// Sessions of HTTP/1.1 go from one caller's connection to another's between calls.
@Suite struct SessionPoolTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"

    private let pool = HTTP1SessionPool(heads: HTTPHeadPool())

    /// A caller that has had one call, and is through with it.
    private func served(_ request: String = Self.get, removing: Bool = true) -> ScriptedCaller {
        let caller = ScriptedCaller()
        caller.whenOpened = { _, stream in stream.response(200) }
        caller.sends(request)
        #expect(caller.session.isAtRest)
        _ = caller.receive()
        if removing { caller.users[0].remove() }
        return caller
    }

    @Test(arguments: [
        get, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-b: c\r\n\r\n",
    ])
    func `a session goes to whoever has a call next, and knows nothing of the last`(_ request: String) {
        let first = served(request)
        let session = ObjectIdentifier(first.session)
        first.rests(in: pool)
        let second = ScriptedCaller.served()
        second.wakes(from: pool)
        #expect(ObjectIdentifier(second.session) == session)
        second.sends(Self.get)
        #expect(second.receive() == Self.ok)
        #expect(second.saw == ["request GET / host=a", "end", "idle"])
        #expect(first.users.count == 1)
        #expect(first.receive().isEmpty)
    }

    @Test func `a connection goes on with another session`() {
        let caller = served()
        caller.rests(in: pool)
        caller.wakes(from: pool)
        caller.sends(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-b: c\r\n\r\n" + Self.get
        )
        caller.users[1].stream?.response(200)
        caller.sends("")
        #expect(caller.receive() == Self.ok + Self.ok)
    }

    @Test func `whoever still holds a session reaches nobody else by it`() throws {
        let first = served(removing: false)
        let late = try #require(first.users[0].stream)
        first.rests(in: pool)
        let second = ScriptedCaller()
        second.wakes(from: pool)
        #expect(ObjectIdentifier(second.session) != ObjectIdentifier(late))
        second.sends(Self.get)
        let reported = (first.saw, second.saw)
        late.response(500)
        late.pause(.slowPeer)
        late.reset(.canceled)
        #expect((first.saw, second.saw) == reported)
        #expect(second.receive().isEmpty)
    }

    @Test(arguments: ["GET / HT", "\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"])
    func `a call that has begun keeps its session`(_ beginning: String) {
        let caller = ScriptedCaller()
        caller.sends(beginning)
        #expect(!caller.session.isAtRest)
    }
}
