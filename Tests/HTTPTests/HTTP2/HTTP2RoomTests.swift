import HTTP
import HTTP2Kit
import Testing

/// How many exchanges an upstream's HTTP/2 connection takes, and when it takes no more.
@Suite struct HTTP2RoomTests {
    @Test func `there is room for as many as the upstream allows and the limit lets`() {
        #expect(HTTP2Upstream(limits: HTTPLimits(streams: 50), settings: [.streams: 10]).session.room == 10)
        #expect(HTTP2Upstream(limits: HTTPLimits(streams: 50), settings: [.streams: 1000]).session.room == 50)
        #expect(HTTP2Upstream(limits: HTTPLimits(streams: 50)).session.room == 50)
        #expect(HTTP2Upstream(settings: [.streams: 0]).session.room == 0)
        #expect(!HTTP2Upstream(settings: [.streams: 0]).session.isRetired)
    }

    @Test func `room follows what the upstream allows`() {
        let upstream = HTTP2Upstream(settings: [.streams: 2])
        let user = upstream.asks()
        #expect(upstream.session.room == 1)
        upstream.asks()
        #expect(upstream.session.room == 0)
        _ = upstream.receive()
        upstream.responses(.settings([.streams: 3]))
        #expect(upstream.session.room == 1 && upstream.reportedRoom == 1)
        upstream.responses(.settings([.streams: 1]))
        #expect(upstream.session.room == 0)
        upstream.responses(.response(1, end: true))
        #expect(user.saw.last == "end" && upstream.session.room == 0)
        upstream.responses(.response(3, end: true))
        #expect(upstream.session.room == 1)
    }

    @Test func `room comes back when exchanges end, in whatever way`() {
        let upstream = HTTP2Upstream(settings: [.streams: 3])
        let users = (0..<3).map { _ in upstream.asks() }
        _ = upstream.receive()
        #expect(upstream.session.room == 0)
        upstream.responses(.response(1, end: true))
        upstream.responses(.reset(3, .internalError))
        users[2].stream?.reset(.canceled)
        _ = upstream.receive()
        #expect(upstream.session.room == 3 && !upstream.session.isBusy)
        #expect(upstream.reportedRoom >= 3)
    }

    @Test func `requests beyond what is allowed wait and go out in turn`() {
        let upstream = HTTP2Upstream()
        for number in 0..<3 { upstream.asks("GET", "/\(number)") }
        upstream.responses(.settings([.streams: 1]))
        #expect(upstream.receive().filter { $0.contains("HEADERS") }.map { $0.suffix(2) } == ["/0"])
        upstream.responses(.response(1, end: true))
        #expect(upstream.receive().map { $0.suffix(2) } == ["/1"])
        upstream.responses(.response(3, end: true))
        #expect(upstream.receive().map { $0.suffix(2) } == ["/2"])
    }

    @Test func `draining closes an idle connection at once, and one that is used after its exchanges`() {
        let idle = HTTP2Upstream()
        idle.session.drain()
        #expect(idle.isClosed)
        let upstream = HTTP2Upstream()
        let user = upstream.asks()
        _ = upstream.receive()
        upstream.session.drain()
        #expect(upstream.session.room == 0 && upstream.session.isRetired && !upstream.isClosed)
        upstream.responses(.response(1), .data(1, "x", end: true))
        #expect(user.saw == ["response 200", "body x", "end"])
        #expect(upstream.isClosed)
    }

    @Test func `an upstream that says GOAWAY to an idle connection is let go`() {
        let upstream = HTTP2Upstream()
        upstream.responses(.goaway(0))
        _ = upstream.receive()
        #expect(upstream.isClosed)
    }

    @Test func `an upstream's PING is answered`() {
        let upstream = HTTP2Upstream()
        upstream.responses(.ping())
        #expect(upstream.receive() == ["PING/ack"])
        #expect(upstream.frames.last?.payload == "01234567".bytes)
    }

    @Test func `a promise of what was not asked for ends the connection`() {
        let upstream = HTTP2Upstream.asked()
        let block = Frame.request(2, "GET", end: true).payload
        upstream.responses(Frame(.push, flags: Frame.Flag.endHeaders, stream: 1, 2.bigEndianBytes + block))
        #expect(upstream.receive().last?.hasSuffix("PROTOCOL_ERROR") == true)
        #expect(upstream.isClosed)
    }

    // MARK: Windows

    @Test func `nothing is reported while an exchange is paused, and its window opens by what was taken`() throws {
        let upstream = HTTP2Upstream.asked()
        let user = upstream.asks()
        _ = upstream.receive()
        user.stream?.pause(.slowPeer)
        upstream.responses(.response(3))
        for _ in 0..<4 { upstream.responses(.data(3, [UInt8](repeating: 0x78, count: 16384))) }
        #expect(user.saw == ["response 200"])
        #expect(upstream.receive() == [])
        upstream.responses(.response(1), .data(1, "other", end: true))
        user.stream?.resume(.slowPeer)
        #expect(upstream.receive() == ["3 WINDOW_UPDATE 65536", "3 WINDOW_UPDATE 65536"])
        #expect(user.saw.last?.utf8.count == 5 + 65536)
    }

    @Test func `a request's body waits for the windows of the upstream`() throws {
        let upstream = HTTP2Upstream(settings: [.window: 4])
        let user = upstream.opens()
        user.stream?.send(head: Message.request(), end: false)
        user.stream?.send(body: "0123456789")
        user.stream?.sendEnd(trailers: nil)
        #expect(upstream.receive().last == "1 DATA 0123")
        #expect(user.stream?.queuedBytes == 6)
        upstream.responses(.window(1, 100))
        #expect(upstream.receive() == ["1 DATA/end 456789"])
    }
}
