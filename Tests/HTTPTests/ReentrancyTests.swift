import Bytes
import HTTP
import Testing

/// What users do while they are being told something.
@Suite struct ReentrancyTests {
    private static let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
    private static let chunked =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nt: 1\r\n\r\n"

    @Test func `a stream that is reset before its user is known reports it nothing`() {
        let caller = ScriptedCaller()
        caller.whenOpened = { _, stream in stream.reset(.canceled) }
        caller.sends(Self.post + "hello")
        caller.session.outputDrained()
        caller.hangsUp()
        #expect(caller.saw == ["request POST / host=a length=5", "closed"])
    }

    @Test(arguments: ["body", "end"])
    func `a caller's stream may be reset in any callback`(moment: String) {
        for request in [Self.post + "hello", Self.chunked] {
            let caller = ScriptedCaller()
            caller.whenOpened = { user, _ in
                if moment == "body" { user.whenBody = { $0.reset(.canceled) } }
                if moment == "end" { user.whenEnd = { $0.reset(.canceled) } }
            }
            caller.sends(request + request)
            #expect(caller.saw.last == "closed")
            #expect(caller.users.count == 1)
            #expect(areAllDifferent(caller.heads))
        }
    }

    @Test func `a caller may be answered while its body comes`() {
        let caller = ScriptedCaller()
        caller.whenOpened = { user, _ in user.whenBody = { $0.response(200) } }
        caller.sends(Self.post + "hello" + Self.chunked)
        #expect(caller.users.count == 2)
        #expect(caller.saw.filter { $0.hasPrefix("body") || $0 == "end" } == ["body hello", "body x"])
        #expect(caller.saw.last == "idle")
    }

    @Test func `a stream that is paused while its body comes gives no more`() {
        let caller = ScriptedCaller()
        caller.whenOpened = { user, _ in user.whenBody = { $0.pause(.slowPeer) } }
        caller.sends("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1\r\ny\r\n0\r\n\r\n")
        #expect(caller.saw == ["request POST / host=a", "body x"])
    }

    @Test func `the trailers are whole although the stream is reset while they are read`() {
        let user = TrailersKeeper()
        let upstream = ScriptedUpstream()
        let stream = upstream.session.open(for: user)
        user.stream = stream
        stream.send(head: Message.request("GET"), end: true)
        upstream.responses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nt: 1\r\n\r\n")
        #expect(user.trailers == ["t"])
        #expect(areAllDifferent(upstream.heads))
    }

    @Test func `draining from the word that the connection is idle closes it`() {
        let caller = ScriptedCaller.served()
        caller.whenIdle = { [unowned caller] in caller.session.drain() }
        caller.sends("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(caller.saw == ["request GET / host=a", "end", "idle", "closed"])
    }

    @Test(arguments: ["head", "body", "end"])
    func `an upstream's stream may be reset in any callback`(moment: String) {
        let upstream = ScriptedUpstream()
        let user = upstream.opens()
        user.stream?.send(head: Message.request("GET"), end: true)
        let reset: (any HTTPStream) -> Void = { $0.reset(.canceled) }
        if moment == "head" { user.whenHead = reset }
        if moment == "body" { user.whenBody = reset }
        if moment == "end" { user.whenEnd = reset }
        upstream.responses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nt: 1\r\n\r\nmore")
        #expect(upstream.saw.last == "closed")
        #expect(!user.wasReset)
        #expect(areAllDifferent(upstream.heads))
    }

    @Test func `heads are used again, each by one at a time`() {
        let caller = ScriptedCaller.served()
        let used = HeadsUsed()
        caller.whenIdle = { [unowned caller] in used.note(caller.heads) }
        for _ in 0..<50 { caller.sends(Self.chunked + Self.post + "hello") }
        #expect(used.count <= 3)
        #expect(areAllDifferent(caller.heads))
    }

    @Test func `a rejected or broken-off head goes back to the pool`() {
        for bytes in ["GET / HTTP/1.1\r\nHost: a\r\nx y\r\n\r\n", Self.chunked.replacing("0\r\nt: 1", with: "x")] {
            let caller = ScriptedCaller()
            let known = caller.heads.acquire()
            caller.heads.release(known)
            caller.sends(bytes)
            let free = (0..<4).map { _ in caller.heads.acquire() }
            #expect(free.contains { $0 === known })
            #expect(Set(free.map { ObjectIdentifier($0) }).count == 4)
        }
    }

    private func areAllDifferent(_ pool: HTTPHeadPool) -> Bool {
        let heads = (0..<8).map { _ in pool.acquire() }
        return Set(heads.map { ObjectIdentifier($0) }).count == heads.count
    }
}

/// Counts the heads that a pool hands out first.
private final class HeadsUsed {
    private var seen: [HTTPHead] = []
    var count: Int { seen.count }

    func note(_ pool: HTTPHeadPool) {
        let head = pool.acquire()
        if !seen.contains(where: { $0 === head }) { seen.append(head) }
        pool.release(head)
    }
}

/// Resets the stream before it reads the trailers.
private final class TrailersKeeper: HTTPStreamUser {
    var stream: (any HTTPStream)?
    private(set) var trailers: [String] = []

    func receivedEnd(trailers: HTTPHead?) {
        stream?.reset(.canceled)
        guard let trailers else { return }
        self.trailers = (0..<trailers.count).map { trailers.name(at: $0).string }
    }

    func received(informational head: HTTPHead) {}
    func received(head: HTTPHead, end: Bool) {}
    func received(body: Span<UInt8>) {}
    func wasReset(_ reason: HTTPReset) {}
    func drained() {}
}
