import HTTP
import HTTP2Kit
import Testing
import Time

/// How a caller's streams end before their time.
@Suite struct HTTP2ResetTests {
    @Test(arguments: [Code.noError, .protocolError, .internalError, .rejected, .cancel, .calm, .http11])
    func `a caller's reset ends the exchange with its code`(code: Code) {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        caller.users[0].stream?.send(head: Message.response(200), end: false)
        caller.sends(.data(1, "x"), .reset(1, code))
        #expect(caller.users[0].saw == ["request POST / host=a", "body x", "reset: \(code.name)"])
        caller.users[0].stream?.send(body: "more")
        caller.users[0].stream?.sendEnd(trailers: nil)
        #expect(caller.receive() == [])
        #expect(!caller.isClosed && !caller.session.isBusy)
    }

    @Test func `a code that nobody knows is reported by its number`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), Frame(.reset, stream: 1, 77.bigEndianBytes))
        #expect(caller.users[0].saw.last == "reset: code 77")
    }

    @Test(arguments: [
        (HTTPReset.canceled, "CANCEL"), (.code(.internalError), "INTERNAL_ERROR"), (.unprocessed, "REFUSED_STREAM"),
        (.error(.chunkEnd), "PROTOCOL_ERROR"), (.shutdown, "CANCEL"), (.connectionLost(errno: nil), "CANCEL"),
    ])
    func `our reset has the code that goes with its reason`(reason: HTTPReset, code: String) throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        let stream = try #require(caller.users[0].stream)
        stream.send(head: Message.response(200), end: false)
        stream.send(body: "x")
        _ = caller.receive()
        stream.reset(reason)
        #expect(caller.receive() == ["1 RST_STREAM \(code)"])
        #expect(caller.users[0].saw == ["request POST / host=a"])
        #expect(!caller.session.isBusy)
        caller.sends(.data(1, "late"), .headers(1, ["t": "1"], end: true))
        #expect(caller.receive() == [])
        #expect(caller.users[0].saw == ["request POST / host=a"])
    }

    @Test func `a response before the end of the request ends it, and the request is not expected any more`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .data(1, "x"))
        caller.users[0].stream?.response(403, body: "no")
        #expect(caller.receive() == ["1 HEADERS :status: 403 | content-length: 2", "1 DATA/end no"])
        #expect(caller.saw.last == "discards")
        caller.sends(.data(1, "rest"))
        #expect(caller.receive() == [])
        caller.waitsASecond()
        #expect(caller.receive() == ["1 RST_STREAM NO_ERROR"])
        caller.sends(.data(1, "rest"), .data(1, end: true))
        #expect(caller.receive() == [])
        #expect(caller.users[0].saw == ["request POST / host=a", "body x"])
        #expect(!caller.isClosed && !caller.session.isBusy)
    }

    @Test func `a request that comes to its end behind its response is not rejected`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .request(3))
        for user in caller.users { user.stream?.response(403) }
        _ = caller.receive()
        caller.sends(.data(1, "rest", end: true), .headers(3, ["t": "1"], end: true))
        #expect(!caller.waitsASecond())
        #expect(caller.receive() == [])
        #expect(caller.users.allSatisfy { $0.saw == ["request POST / host=a"] })
        #expect(!caller.session.isBusy && caller.saw.last == "idle")
    }

    @Test func `each response gives its request a second`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .request(3))
        caller.users[0].stream?.response(403)
        _ = caller.receive()
        caller.now += .milliseconds(400)
        caller.users[1].stream?.response(403)
        _ = caller.receive()
        caller.now += .milliseconds(-400)
        #expect(caller.waitsASecond())
        #expect(caller.receive() == ["1 RST_STREAM NO_ERROR"])
        #expect(!caller.waitsASecond())
        #expect(caller.receive() == ["3 RST_STREAM NO_ERROR"])
    }

    @Test func `what comes behind a response is thrown away up to a limit, and then rejected`() {
        let caller = HTTP2Caller(limits: HTTPLimits(discard: 10_000))
        caller.sends(.request(1))
        caller.users[0].stream?.response(413)
        _ = caller.receive()
        caller.sends(.data(1, [UInt8](repeating: 0, count: 10_000)))
        #expect(caller.receive() == [])
        caller.sends(.data(1, "x"), .data(1, "x"))
        #expect(caller.receive() == ["1 RST_STREAM NO_ERROR"])
        #expect(!caller.waitsASecond() && caller.receive() == [])
    }

    @Test func `early responses of every form are followed by NO_ERROR in time`() {
        let caller = HTTP2Caller()
        caller.whenRejected = { stream, error in stream.response(error.status) }
        caller.sends(.request(1), .request(3), .request(5, "POST", "/", ["expect": "x"]))
        caller.users[0].stream?.send(head: Message.response(200, ["grpc-status": "7"]), end: true)
        let second = caller.users[1].stream
        second?.send(head: Message.response(200), end: false)
        second?.sendEnd(trailers: Message.trailers(["t": "1"]))
        #expect(caller.receive().filter { $0.contains("RST_STREAM") } == [])
        #expect(caller.saw.filter { $0 == "discards" }.count == 3)
        caller.waitsASecond()
        #expect(caller.receive().sorted() == [1, 3, 5].map { "\($0) RST_STREAM NO_ERROR" })
        #expect(!caller.session.isBusy)
    }

    @Test func `a user whose response is out is let go of, though input waits for it`() {
        let caller = HTTP2Caller()
        weak var user: ScriptedUser?
        weak var stream: AnyObject?
        caller.whenOpened = {
            (user, stream) = ($0, $1)
            $1.pause(.noUpstream)
        }
        caller.sends(.request(1), .data(1, "hello"))
        user?.stream?.response(500)
        caller.removeUsers()
        #expect(user == nil)
        _ = caller.receive()
        caller.waitsASecond()
        _ = caller.receive()
        #expect(stream == nil)
    }

    @Test func `a reset that crosses the end of the response is nothing`() {
        let caller = HTTP2Caller.served()
        caller.sends(.request(1, end: true))
        _ = caller.receive()
        caller.sends(.reset(1, .cancel), .window(1, 100), .priority(1))
        #expect(caller.receive() == [])
        #expect(caller.saw == ["request POST / host=a", "end", "idle"])
    }

    @Test(arguments: [Frame.data(5, "x"), .window(5, 1), .reset(5, .cancel), .headers(4, [:])])
    func `a frame on a stream that cannot be ends the connection`(frame: Frame) {
        let caller = HTTP2Caller.served()
        caller.sends(.request(1, end: true), frame)
        #expect(caller.receive().contains("GOAWAY 1 PROTOCOL_ERROR"))
        #expect(caller.isClosed)
    }

    @Test func `streams end with a connection that breaks the protocol`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .request(3, end: true))
        caller.sends(.data(0, "x"))
        #expect(caller.receive() == ["GOAWAY 3 PROTOCOL_ERROR"])
        #expect(caller.users.map { $0.saw.last } == ["reset: connection lost", "reset: connection lost"])
        #expect(caller.saw.last == "closed, lingering")
    }

    @Test func `a frame that is larger than agreed is rejected`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .data(1, [UInt8](repeating: 0, count: 16385)))
        #expect(caller.receive().last?.hasSuffix("FRAME_SIZE_ERROR") == true)
    }
}
