import HTTP
import HTTP2Kit
import Testing

/// What a caller's HTTP/2 connection makes of an exchange.
@Suite struct HTTP2ExchangeTests {
    @Test func `the session begins with its settings and a window for the connection`() {
        let caller = HTTP2Caller(limits: HTTPLimits(head: 1024, streams: 7), begins: false)
        #expect(caller.receive() == ["SETTINGS 3=7 4=65536 6=1024 9=1", "WINDOW_UPDATE \(8 * 1024 * 1024 - 65535)"])
        caller.sends(FrameReader.preface)
        caller.sends(.settings([.window: 1000]))
        #expect(caller.receive() == ["SETTINGS/ack"])
    }

    @Test func `an exchange is the same however its bytes are cut`() throws {
        let bytes =
            FrameReader.preface + Frame.settings().bytes + Frame.settingsAck.bytes
            + Frame.request(1, "POST", "/p?q", ["te": "trailers", "content-type": "a/b"]).bytes
            + Frame.data(1, "he").bytes + Frame.data(1, "llo").bytes
            + Frame.headers(1, ["t": "1"], end: true).bytes
        let reported = [
            "request POST /p?q host=a te=trailers", "  content-type: a/b", "body hello", "end", "  t: 1", "idle",
        ]
        let sent = ["SETTINGS/ack", "1 HEADERS :status: 200 | x: y | content-length: 2", "1 DATA/end hi"]
        for pieces in everyCut(of: bytes) {
            let caller = HTTP2Caller(begins: false)
            _ = caller.receive()
            caller.whenOpened = { user, _ in user.whenEnd = { $0.response(200, ["x": "y"], body: "hi") } }
            for piece in pieces { caller.sends(piece) }
            try #require(caller.receive() == sent)
            try #require(caller.saw == reported)
        }
    }

    @Test func `a head may come in several frames and with padding`() {
        let head = Frame.request(1, "GET", "/p", ["x": "y"], end: true)
        let caller = HTTP2Caller.served()
        let (first, rest) = (Array(head.payload[..<9]), Array(head.payload[9...]))
        let padded = Frame(.headers, flags: Frame.Flag.padded | Frame.Flag.end, stream: 1, [3] + first + [0, 0, 0])
        caller.sends(padded, .continuation(1, Array(rest[..<5])), .continuation(1, Array(rest[5...]), end: true))
        #expect(caller.saw == ["request GET /p host=a", "  x: y", "end"])
    }

    @Test func `padding of a body is not a part of it`() {
        let caller = HTTP2Caller.served()
        let body = Frame(.data, flags: Frame.Flag.padded | Frame.Flag.end, stream: 1, [2, 0x68, 0x69, 0, 0])
        caller.sends(.request(1), body)
        #expect(caller.saw == ["request POST / host=a", "body hi", "end"])
    }

    @Test func `interim responses come before the response`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, "POST", "/", ["expect": "100-continue"]))
        #expect(caller.saw == ["request POST / host=a expects=continue"])
        let stream = try #require(caller.users[0].stream)
        stream.send(informational: Message.response(100))
        stream.send(informational: Message.response(103, ["link": "b"]))
        #expect(caller.receive() == ["1 HEADERS :status: 100", "1 HEADERS :status: 103 | link: b"])
        caller.sends(.data(1, "hi", end: true))
        stream.response(200)
        stream.send(informational: Message.response(103))
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 0"])
    }

    @Test func `trailers follow the body in a frame of their own`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true))
        let stream = try #require(caller.users[0].stream)
        stream.send(head: Message.response(200), end: false)
        stream.send(body: "hello")
        stream.sendEnd(trailers: Message.trailers(["grpc-status": "0", "t": "1"]))
        #expect(
            caller.receive() == ["1 HEADERS :status: 200", "1 DATA hello", "1 HEADERS/end grpc-status: 0 | t: 1"]
        )
        #expect(caller.saw.last == "idle")
    }

    @Test func `trailers may follow without a body, and no trailers are none`() throws {
        for (trailers, sent) in [
            (Message.trailers(["t": "1"]), "1 HEADERS/end t: 1"), (Message.trailers([:]), "1 DATA/end "),
        ] {
            let caller = HTTP2Caller()
            caller.sends(.request(1, end: true))
            let stream = try #require(caller.users[0].stream)
            stream.send(head: Message.response(200), end: false)
            #expect(caller.receive() == ["1 HEADERS :status: 200"])
            stream.sendEnd(trailers: trailers)
            #expect(caller.receive().filter { $0 != "1 DATA " } == [sent])
            #expect(caller.saw.last == "idle")
        }
    }

    @Test func `a response may be nothing but a head`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true))
        try #require(caller.users[0].stream).send(head: Message.response(200, ["grpc-status": "5"]), end: true)
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | grpc-status: 5"])
    }

    @Test func `the response to HEAD has a length and no body`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, "HEAD", end: true))
        try #require(caller.users[0].stream).send(head: Message.response(200, length: 5), end: true)
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 5"])
    }

    @Test func `a body may be empty, or come in empty pieces`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .data(1, end: true), .request(3), .data(3), .data(3, "x"), .data(3, end: true))
        #expect(caller.users[0].saw == ["request POST / host=a", "end"])
        #expect(caller.users[1].saw == ["request POST / host=a", "body x", "end"])
    }

    @Test func `what is sent after the end goes nowhere`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true))
        let stream = try #require(caller.users[0].stream)
        stream.response(200, body: "hi")
        _ = caller.receive()
        stream.send(head: Message.response(500), end: false)
        stream.send(body: "more")
        stream.sendEnd(trailers: nil)
        stream.reset(.canceled)
        stream.pause(.slowPeer)
        stream.resume(.slowPeer)
        #expect(caller.receive() == [])
        #expect(caller.users[0].saw == ["request POST / host=a", "end"])
    }

    @Test func `a caller that hangs up ends its streams`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .request(3, end: true))
        #expect(caller.session.isBusy)
        caller.hangsUp(errno: 104)
        #expect(caller.users.map { $0.saw.last } == Array(repeating: "reset: connection lost, errno 104", count: 2))
        #expect(caller.saw.last == "closed")
        #expect(!caller.session.isBusy)
    }

    @Test func `what is no HTTP 2 ends the connection`() {
        let caller = HTTP2Caller(begins: false)
        _ = caller.receive()
        caller.sends(FrameReader.preface)
        caller.sends(.data(1, "x"))
        #expect(caller.receive() == ["GOAWAY 0 PROTOCOL_ERROR"])
        #expect(caller.saw == ["closed, lingering"])
    }
}
