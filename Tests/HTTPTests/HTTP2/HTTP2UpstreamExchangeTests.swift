import HTTP
import HTTP2Kit
import Testing

/// What an upstream's HTTP/2 connection makes of exchanges.
@Suite struct HTTP2UpstreamExchangeTests {
    private static let get = "HEADERS/end :method: GET | :scheme: http | :authority: a | :path: /"

    @Test func `the session begins with the preface, its settings and a window for the connection`() {
        let upstream = HTTP2Upstream(begins: false)
        #expect(upstream.receive() == ["SETTINGS 2=0 4=65536 6=65536", "WINDOW_UPDATE \(8 * 1024 * 1024 - 65535)"])
        upstream.responses(.settings())
        #expect(upstream.receive() == ["SETTINGS/ack"])
    }

    @Test func `a request goes out with all that belongs to it`() throws {
        let upstream = HTTP2Upstream(isSecure: true)
        let stream = try #require(upstream.opens().stream)
        let head = Message.request("POST", "/p?q", ["x": "y", "cookie": "a=1"], length: 5)
        head.acceptsTrailers = true
        head.expectsContinue = true
        stream.send(head: head, end: false)
        stream.send(body: "hello")
        stream.sendEnd(trailers: Message.trailers(["t": "1"]))
        let control = ":method: POST | :scheme: https | :authority: a | :path: /p?q"
        #expect(
            upstream.receive() == [
                "1 HEADERS \(control) | te: trailers | expect: 100-continue | x: y | cookie: a=1 | content-length: 5",
                "1 DATA hello", "1 HEADERS/end t: 1",
            ]
        )
    }

    @Test func `a response is the same however its bytes are cut`() throws {
        let bytes =
            Frame.response(1, 103, ["link": "b"]).bytes
            + Frame.response(1, 200, ["x": "y", "content-length": "5"]).bytes
            + Frame.data(1, "he").bytes + Frame.data(1, "llo").bytes + Frame.headers(1, ["t": "1"], end: true).bytes
        let reported = [
            "interim 103", "  link: b", "response 200 length=5", "  x: y", "body hello", "end", "  t: 1",
        ]
        for pieces in everyCut(of: bytes) {
            let upstream = HTTP2Upstream.asked()
            for piece in pieces { upstream.responses(piece) }
            try #require(upstream.saw == reported)
            try #require(!upstream.session.isBusy)
        }
    }

    @Test func `exchanges share the connection, and each is reported its own`() {
        let upstream = HTTP2Upstream()
        let users = (0..<100).map { upstream.asks("GET", "/\($0)") }
        #expect(upstream.receive().count == 100)
        for index in users.indices.reversed() { upstream.responses(.response(2 * index + 1)) }
        for index in users.indices { upstream.responses(.data(2 * index + 1, "\(index)")) }
        for index in users.indices { upstream.responses(.headers(2 * index + 1, ["t": "\(index)"], end: true)) }
        for (index, user) in users.enumerated() {
            #expect(user.saw == ["response 200", "body \(index)", "end", "  t: \(index)"])
        }
        #expect(!upstream.session.isBusy && upstream.reportedRoom > 0)
    }

    @Test func `a response may be nothing but a head`() {
        let upstream = HTTP2Upstream.asked("POST")
        upstream.responses(.response(1, 200, ["grpc-status": "5"], end: true))
        #expect(upstream.saw == ["response 200", "  grpc-status: 5", "end"])
    }

    @Test func `the response to HEAD has a length and no body, and so has 304`() {
        for (method, status) in [("HEAD", 200), ("GET", 304)] {
            let upstream = HTTP2Upstream.asked(method)
            upstream.responses(.response(1, status, ["content-length": "5"], end: true))
            #expect(upstream.saw == ["response \(status) length=5", "end"])
        }
    }

    @Test func `a response before the end of the request goes on while the request does`() throws {
        let upstream = HTTP2Upstream()
        let user = upstream.opens()
        user.stream?.send(head: Message.request(), end: false)
        _ = upstream.receive()
        upstream.responses(.response(1), .data(1, "x"))
        user.stream?.send(body: "y")
        user.stream?.sendEnd(trailers: nil)
        #expect(upstream.receive() == ["1 DATA/end y"])
        upstream.responses(.data(1, end: true))
        #expect(user.saw == ["response 200", "body x", "end"])
    }

    @Test func `a whole response before the end of the request ends both`() throws {
        let upstream = HTTP2Upstream()
        let user = upstream.opens()
        user.stream?.send(head: Message.request(), end: false)
        user.stream?.send(body: "x")
        _ = upstream.receive()
        upstream.responses(.response(1, 413), .data(1, "no", end: true), .reset(1, .noError))
        #expect(user.saw == ["response 413", "body no", "end"])
        user.stream?.send(body: "more")
        user.stream?.sendEnd(trailers: nil)
        #expect(upstream.receive().allSatisfy { $0 == "1 RST_STREAM CANCEL" })
        #expect(!upstream.session.isBusy)
    }

    @Test func `an upstream that responds early and does not reset is reset`() throws {
        let upstream = HTTP2Upstream()
        let user = upstream.opens()
        user.stream?.send(head: Message.request(), end: false)
        _ = upstream.receive()
        upstream.responses(.response(1, 200, ["grpc-status": "7"], end: true))
        #expect(user.saw.last == "end")
        #expect(upstream.receive() == ["1 RST_STREAM CANCEL"])
        #expect(!upstream.session.isBusy)
    }

    @Test func `a reset ends the exchange and reports nothing`() {
        let upstream = HTTP2Upstream()
        let user = upstream.asks()
        _ = upstream.receive()
        upstream.responses(.response(1), .data(1, "x"))
        user.stream?.reset(.canceled)
        #expect(upstream.receive() == ["1 RST_STREAM CANCEL"])
        upstream.responses(.data(1, "late"), .headers(1, ["t": "1"], end: true))
        #expect(user.saw == ["response 200", "body x"])
        #expect(!upstream.isClosed && !upstream.session.isBusy)
    }

    @Test func `a stream that is reset before anything of it was sent never was`() {
        let upstream = HTTP2Upstream()
        for _ in 0..<20 {
            let user = upstream.asks()
            user.stream?.reset(.canceled)
            user.remove()
            #expect(upstream.receive() == [])
        }
        #expect(!upstream.session.isBusy && upstream.saw == [])
        upstream.asks("GET", "/")
        #expect(upstream.receive().first?.hasSuffix(Self.get) == true)
    }

    @Test(arguments: [
        [("X", "a")], [("connection", "close")], [("transfer-encoding", "chunked")], [(":status", "200")],
        [("x", "a\r\nb")], [("content-length", "x")],
    ])
    func `a malformed response resets the stream`(fields: [(String, String)]) {
        let upstream = HTTP2Upstream.asked()
        let block = ([(":status", "200")] + fields).flatMap { HPACK.literal($0.0, $0.1) }
        upstream.responses(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: 1, block))
        #expect(upstream.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
        #expect(upstream.saw == ["reset: fault \(HTTPError.http2Message)"])
        #expect(!upstream.isClosed)
    }

    @Test func `a response without a status, or beyond its length, is malformed`() {
        for frames in [
            Frame.headers(1, ["x": "y"], end: true).bytes,
            Frame.response(1, 200, ["content-length": "2"]).bytes + Frame.data(1, "hello", end: true).bytes,
            Frame.response(1, 200, ["content-length": "9"]).bytes + Frame.data(1, "hello", end: true).bytes,
            Frame.response(1, 103, end: true).bytes,
        ] {
            let upstream = HTTP2Upstream.asked()
            upstream.responses(frames)
            #expect(upstream.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
            #expect(upstream.saw.last?.hasPrefix("reset: ") == true, "\(upstream.saw)")
            #expect(!upstream.saw.contains("end"))
            #expect(!upstream.session.isBusy)
        }
    }

    @Test func `a body without a head ends the connection`() {
        let upstream = HTTP2Upstream.asked()
        upstream.responses(.data(1, "hello"))
        #expect(upstream.receive() == ["GOAWAY 0 PROTOCOL_ERROR"])
        #expect(upstream.saw.first?.hasPrefix("reset: ") == true)
        #expect(upstream.isClosed)
    }

    @Test func `a head that is too large resets the stream`() {
        let upstream = HTTP2Upstream.asked(limits: HTTPLimits(head: 1024))
        upstream.responses(.response(1, 200, ["x": String(repeating: "y", count: 2000)]), .data(1, "x", end: true))
        #expect(upstream.saw == ["reset: fault \(HTTPError.headTooLarge)"])
        #expect(upstream.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
    }
}
