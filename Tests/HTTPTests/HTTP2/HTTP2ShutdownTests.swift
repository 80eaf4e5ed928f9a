import HTTP
import HTTP2Kit
import Testing

/// How a caller's HTTP/2 connection comes to its end in order (RFC 9113 §6.8).
@Suite struct HTTP2ShutdownTests {
    private static let ok = "HEADERS/end :status: 200 | content-length: 0"

    /// A PING that responds to the last one that came.
    private func ack(_ caller: HTTP2Caller) -> Frame {
        .ping(caller.frames.last { $0.kind == .ping }?.payload ?? [], ack: true)
    }

    /// A caller with a stream under way, whose session has given notice.
    private func noticed() -> HTTP2Caller {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true))
        caller.session.drain()
        #expect(caller.receive() == ["GOAWAY 2147483647 NO_ERROR", "PING"])
        return caller
    }

    @Test func `an idle connection ends when its caller has seen the notice`() {
        let caller = HTTP2Caller.served()
        caller.sends(.request(1, end: true))
        _ = caller.receive()
        caller.session.drain()
        #expect(caller.receive() == ["GOAWAY 2147483647 NO_ERROR", "PING"])
        #expect(!caller.isClosed)
        caller.sends(ack(caller))
        #expect(caller.receive() == ["GOAWAY 1 NO_ERROR"])
        #expect(caller.saw.last == "closed, lingering")
        caller.session.drain()
        #expect(caller.receive() == [])
    }

    @Test func `a connection whose caller says nothing ends when it is asked again`() {
        let caller = noticed()
        caller.users[0].stream?.response(200)
        #expect(caller.receive() == ["1 \(Self.ok)"])
        #expect(!caller.isClosed)
        caller.session.drain()
        #expect(caller.receive() == ["GOAWAY 1 NO_ERROR"])
        #expect(caller.isClosed)
        caller.session.drain()
        #expect(caller.receive() == [])
    }

    @Test func `streams that begin before the notice is seen are served`() {
        let caller = noticed()
        caller.sends(.request(3, end: true))
        caller.users[1].stream?.response(200)
        #expect(caller.receive() == ["3 \(Self.ok)"])
        caller.sends(.request(5), ack(caller))
        #expect(caller.receive() == ["GOAWAY 5 NO_ERROR"])
        caller.sends(.data(5, end: true))
        for user in [caller.users[0], caller.users[2]] { user.stream?.response(200) }
        #expect(caller.receive() == ["1 \(Self.ok)", "5 \(Self.ok)"])
        #expect(caller.saw.suffix(2) == ["idle", "closed, lingering"])
    }

    @Test func `streams that begin after the last word are not`() {
        let caller = noticed()
        caller.sends(ack(caller))
        #expect(caller.receive() == ["GOAWAY 1 NO_ERROR"])
        caller.sends(.request(3, end: true))
        #expect(caller.users.count == 1)
        caller.users[0].stream?.response(200)
        #expect(caller.receive() == ["1 \(Self.ok)"])
        #expect(caller.saw.suffix(2) == ["idle", "closed, lingering"])
    }

    @Test func `another PING is no response to the notice`() {
        let caller = noticed()
        caller.sends(.ping())
        #expect(caller.receive() == ["PING/ack"])
        #expect(!caller.isClosed)
    }

    @Test func `a caller that says GOAWAY is served to the end`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true), .goaway(0))
        _ = caller.receive()
        #expect(!caller.isClosed)
        caller.users[0].stream?.response(200)
        #expect(caller.receive() == ["1 \(Self.ok)"])
        #expect(caller.saw.suffix(2) == ["idle", "closed, lingering"])
    }

    @Test func `a caller that says GOAWAY with nothing under way is let go`() {
        let caller = HTTP2Caller()
        caller.sends(.goaway(0))
        _ = caller.receive()
        #expect(caller.isClosed)
    }

    // MARK: Abandoned

    @Test func `abandoned streams may be answered, and the responses arrive whole`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true), .request(3, end: true), .request(5))
        caller.users[0].whenReset = { $0.response(503, body: "stopping") }
        caller.users[1].whenReset = { $0.send(head: Message.response(200, ["grpc-status": "14"]), end: true) }
        caller.users[2].whenReset = {
            $0.send(head: Message.response(200), end: false)
            $0.sendEnd(trailers: Message.trailers(["t": "1"]))
        }
        caller.session.abandon()
        let sent = caller.receive()
        #expect(sent.contains("1 HEADERS :status: 503 | content-length: 8"))
        #expect(sent.contains("1 DATA/end stopping"))
        #expect(sent.contains("3 HEADERS/end :status: 200 | grpc-status: 14"))
        #expect(sent.contains("5 HEADERS/end t: 1"))
        #expect(sent.contains("GOAWAY 5 NO_ERROR"))
        #expect(caller.users.allSatisfy { $0.saw.last == "reset: shutdown" })
        #expect(caller.saw.last == "closed, lingering")
    }

    @Test func `an abandoned stream whose response has begun is reset`() {
        let caller = HTTP2Caller(settings: [.window: 3])
        caller.sends(.request(1, end: true))
        caller.users[0].stream?.send(head: Message.response(200), end: false)
        caller.users[0].stream?.send(body: "hello")
        caller.users[0].whenReset = { $0.reset(.code(.internalError)) }
        caller.session.abandon()
        let sent = caller.receive()
        #expect(!sent.contains { $0.contains("/end") })
        #expect(sent.contains("1 RST_STREAM INTERNAL_ERROR"))
        #expect(caller.isClosed)
    }

    @Test func `an abandoned connection without streams ends at once`() {
        let caller = HTTP2Caller()
        caller.session.abandon()
        #expect(caller.receive() == ["GOAWAY 0 NO_ERROR"])
        #expect(caller.isClosed)
        caller.session.abandon()
        caller.session.drain()
        #expect(caller.receive() == [])
    }
}
