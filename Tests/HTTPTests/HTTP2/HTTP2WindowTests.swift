import HTTP
import HTTP2Kit
import Testing

/// How much may be on its way on a caller's HTTP/2 connection, either way.
@Suite struct HTTP2WindowTests {
    private static let window = 64 * 1024
    private static let maxWindow = 256 * 1024

    // MARK: What arrives

    @Test func `nothing is reported while a stream is paused, and its window stays shut`() throws {
        let caller = HTTP2Caller()
        caller.whenOpened = { _, stream in stream.pause(.noUpstream) }
        caller.sends(.request(1))
        caller.sendsBody(1, Self.window)
        #expect(caller.saw == ["request POST / host=a"])
        #expect(caller.opened(1) == 0)
        caller.users[0].stream?.resume(.noUpstream)
        #expect(caller.users[0].saw.last?.utf8.count == 5 + Self.window)
        #expect(caller.opened(1) >= Self.window)
    }

    @Test func `a stream goes on when the last reason to wait is gone`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        let stream = try #require(caller.users[0].stream)
        stream.pause(.noUpstream)
        stream.pause(.slowPeer)
        caller.sends(.data(1, "hi"), .headers(1, ["t": "1"], end: true))
        stream.resume(.noUpstream)
        #expect(caller.saw == ["request POST / host=a"])
        stream.resume(.slowPeer)
        #expect(caller.saw == ["request POST / host=a", "body hi", "end", "  t: 1"])
        stream.resume(.slowPeer)
        #expect(caller.saw.count == 4)
    }

    @Test func `a window opens by what has been taken, and grows to four times what it was`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        for round in 1...40 {
            caller.sendsBody(1, 50_000)
            let taken = round * 50_000
            let opened = caller.opened(1)
            #expect(opened <= taken + Self.maxWindow - Self.window)
            #expect(taken - opened < Self.window)
        }
        #expect(caller.opened(1) > 40 * 50_000)
        #expect(caller.users[0].saw.last?.utf8.count == 5 + 40 * 50_000)
    }

    @Test func `the window of a user that is behind does not grow`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        caller.users[0].isBehind = true
        for round in 1...20 {
            caller.sendsBody(1, 50_000)
            #expect(caller.opened(1) <= round * 50_000)
        }
        caller.users[0].isBehind = false
        caller.sendsBody(1, 50_000)
        #expect(caller.opened(1) > 21 * 50_000)
    }

    @Test func `what one stream holds back takes nothing from the others`() {
        let caller = HTTP2Caller()
        let held = Array(stride(from: 1, to: 30, by: 2))
        for stream in held {
            caller.sends(.request(stream))
            caller.users.last?.stream?.pause(.slowPeer)
            caller.sendsBody(stream, Self.window)
            _ = caller.receive()
        }
        #expect(held.allSatisfy { caller.opened($0) == 0 })
        caller.sends(.request(101))
        for _ in 0..<160 {
            caller.sendsBody(101, 100_000)
            _ = caller.receive()
        }
        #expect(caller.users.last?.saw.last?.utf8.count == 5 + 160 * 100_000)
        #expect(!caller.isClosed)
    }

    @Test func `whatever many streams hold back, the window of the connection is open`() {
        let caller = HTTP2Caller(limits: HTTPLimits(streams: 1000))
        // More than the connection's window of eight mebibytes.
        let held = Array(stride(from: 1, to: 500, by: 2))
        for stream in held {
            caller.sends(.request(stream))
            caller.users.last?.stream?.pause(.slowPeer)
            caller.sendsBody(stream, Self.window)
            _ = caller.receive()
        }
        #expect(caller.opened(0) + 65535 + (8 << 20) - 65535 - held.count * Self.window > 4 << 20)
        caller.sends(.request(501))
        caller.sendsBody(501, Self.window)
        #expect(caller.users.last?.saw.last?.utf8.count == 5 + Self.window)
        #expect(!caller.isClosed)
    }

    @Test func `whole responses that nobody wants any more are not held`() {
        let upstream = HTTP2Upstream()
        let piece = [UInt8](repeating: 0x78, count: 16384)
        let users = (0..<40).map { number in
            let user = upstream.asks()
            _ = upstream.receive()
            user.stream?.pause(.slowPeer)
            let stream = 2 * number + 1
            upstream.responses(.response(stream))
            for part in 1...4 { upstream.responses(.data(stream, piece, end: part == 4)) }
            return user
        }
        #expect(upstream.session.holdsMuch)
        for user in users { user.stream?.reset(.canceled) }
        #expect(!upstream.session.holdsMuch)
        // And another response of any size still comes.
        let last = upstream.asks()
        _ = upstream.receive()
        upstream.responses(.response(81), .data(81, "x", end: true))
        #expect(last.saw == ["response 200", "body x", "end"])
        #expect(users.allSatisfy { $0.saw == ["response 200"] })
    }

    @Test func `the end of a request does not overtake a pause`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .request(3))
        for user in caller.users { user.stream?.pause(.slowPeer) }
        caller.sends(.data(1, end: true), .headers(3, ["t": "1"], end: true))
        #expect(caller.users.map(\.saw) == [["request POST / host=a"], ["request POST / host=a"]])
        for user in caller.users { user.stream?.resume(.slowPeer) }
        #expect(caller.users[0].saw == ["request POST / host=a", "end"])
        #expect(caller.users[1].saw == ["request POST / host=a", "end", "  t: 1"])
    }

    @Test func `a peer that sends more than it may is rejected`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        caller.users[0].stream?.pause(.slowPeer)
        caller.sendsBody(1, Self.window)
        #expect(caller.receive() == [])
        caller.sends(.data(1, "x"))
        #expect(caller.receive().last?.hasSuffix("FLOW_CONTROL_ERROR") == true)
        #expect(caller.users[0].saw == ["request POST / host=a", "reset: FLOW_CONTROL_ERROR"])
    }

    @Test func `what a stream held back when it was reset is removed`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        caller.users[0].stream?.pause(.slowPeer)
        caller.sends(.data(1, "hello"), .reset(1, .cancel))
        caller.users[0].stream?.resume(.slowPeer)
        #expect(caller.users[0].saw == ["request POST / host=a", "reset: CANCEL"])
    }

    // MARK: What is sent

    @Test func `a body waits for the window of its stream`() throws {
        let caller = HTTP2Caller(settings: [.window: 10])
        caller.sends(.request(1, end: true))
        let stream = try #require(caller.users[0].stream)
        stream.send(head: Message.response(200), end: false)
        stream.send(body: String(repeating: "x", count: 36))
        stream.sendEnd(trailers: Message.trailers(["t": "1"]))
        #expect(caller.receive() == ["1 HEADERS :status: 200", "1 DATA xxxxxxxxxx"])
        #expect(stream.queuedBytes == 26)
        caller.sends(.window(1, 3))
        #expect(caller.receive() == ["1 DATA xxx"])
        caller.sends(.settings([.window: 20]))
        #expect(caller.receive() == ["SETTINGS/ack", "1 DATA xxxxxxxxxx"])
        caller.sends(.settings([.window: 5]), .window(1, 15))
        #expect(caller.receive() == ["SETTINGS/ack"])
        caller.sends(.window(1, 20))
        #expect(caller.receive() == ["1 DATA xxxxxxxxxxxxx", "1 HEADERS/end t: 1"])
        #expect(stream.queuedBytes == 0)
    }

    @Test func `a response that is nothing but a head needs no window`() {
        let caller = HTTP2Caller(settings: [.window: 0])
        caller.sends(.request(1, end: true))
        caller.users[0].stream?.response(200)
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 0"])
    }

    @Test func `trailers with nothing before them need no window`() throws {
        let caller = HTTP2Caller(settings: [.window: 1 << 20])
        caller.sends(.request(1, end: true), .request(3, end: true))
        let stream = try #require(caller.users[1].stream)
        stream.send(head: Message.response(200), end: false)
        _ = caller.receive()
        caller.users[0].stream?.response(200, body: String(repeating: "x", count: 100_000))
        #expect(caller.bytes(of: caller.receive()) == 65535)
        stream.sendEnd(trailers: Message.trailers(["t": "1"]))
        #expect(caller.receive() == ["3 HEADERS/end t: 1"])
    }

    @Test func `trailers need no window that there never was`() throws {
        let caller = HTTP2Caller(settings: [.window: 0])
        caller.sends(.request(1, end: true))
        let stream = try #require(caller.users[0].stream)
        stream.send(head: Message.response(200), end: false)
        #expect(caller.receive() == ["1 HEADERS :status: 200"])
        stream.sendEnd(trailers: Message.trailers(["t": "1"]))
        #expect(caller.receive() == ["1 HEADERS/end t: 1"])
        #expect(caller.saw.last == "idle")
    }

    @Test func `bodies share the window of the connection`() throws {
        let caller = HTTP2Caller(settings: [.window: 1 << 20])
        let body = String(repeating: "x", count: 100_000)
        caller.sends(.request(1, end: true), .request(3, end: true))
        for user in caller.users { user.stream?.response(200, body: body) }
        #expect(caller.bytes(of: caller.receive()) == 65535)
        #expect(caller.users.reduce(0) { $0 + ($1.stream?.queuedBytes ?? 0) } == 200_000 - 65535)
        caller.sends(.window(0, 1000))
        #expect(caller.bytes(of: caller.receive()) == 1000)
        caller.sends(.window(0, 1 << 20))
        #expect(caller.bytes(of: caller.receive()) == 200_000 - 66535)
        #expect(caller.saw.last == "idle")
    }

    @Test func `a shut stream holds no other back`() throws {
        let caller = HTTP2Caller(settings: [.window: 0])
        caller.sends(.request(1, end: true), .request(3, end: true), .window(3, 100))
        for user in caller.users { user.stream?.response(200, body: "hi") }
        let lengths = "HEADERS :status: 200 | content-length: 2"
        #expect(caller.receive() == ["1 \(lengths)", "3 \(lengths)", "3 DATA/end hi"])
    }

    @Test(arguments: [1, 4095, 4096, 16384, 70_000, 300_000])
    func `a big body arrives whole and in frames of the size that was agreed`(piece: Int) throws {
        let caller = HTTP2Caller(settings: [.window: 1 << 30])
        caller.sends(.window(0, 1 << 30), .request(1, end: true))
        let stream = try #require(caller.users[0].stream)
        let count = min(100 * piece, 400_000)
        let body = Array((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        stream.send(head: Message.response(200), end: false)
        for start in stride(from: 0, to: count, by: piece) {
            stream.send(body: body.span.extracting(start..<min(start + piece, count)))
            if start % 3 == 0 { _ = caller.receive() }
        }
        stream.sendEnd(trailers: nil)
        _ = caller.receive()
        let frames = caller.frames.filter { $0.kind == .data }
        #expect(Array(frames.map(\.payload).joined()) == body)
        #expect(frames.allSatisfy { $0.payload.count <= 16384 })
        #expect(frames.last?.has(Frame.Flag.end) == true)
    }

    @Test func `larger frames are sent where the peer allows them`() throws {
        let caller = HTTP2Caller(settings: [.window: 1 << 20, .frameSize: 1 << 20])
        caller.sends(.request(1, end: true))
        caller.users[0].stream?.response(200, body: String(repeating: "x", count: 60_000))
        #expect(caller.bytes(of: caller.receive()) == 60_000)
    }

    @Test func `streams wait with their bytes while the output is full`() {
        let caller = HTTP2Caller(settings: [.window: 1 << 20])
        caller.sends(.window(0, 1 << 28))
        for stream in stride(from: 1, to: 40, by: 2) { caller.sends(.request(stream, end: true)) }
        let body = String(repeating: "x", count: 100_000)
        for user in caller.users { user.stream?.response(200, body: body) }
        caller.session.fillOutput()
        #expect(caller.queued <= 128 * 1024 + 16 * 1024)
        #expect(caller.bytes(of: caller.receive()) == 20 * 100_000)
    }

    @Test func `a stream that is reset while its bytes wait for the output leaves the others whole`() {
        for piece in [3000, 40_000, 300_000] {
            let caller = HTTP2Caller(settings: [.window: 1 << 20])
            caller.sends(.window(0, 1 << 28))
            let streams = Array(stride(from: 1, to: 20, by: 2))
            for stream in streams { caller.sends(.request(stream, end: true)) }
            for (user, stream) in zip(caller.users, streams) {
                user.stream?.send(head: Message.response(200), end: false)
                user.stream?.send(body: [UInt8](repeating: UInt8(stream), count: piece).span)
                user.stream?.sendEnd(trailers: nil)
                caller.session.fillOutput()
            }
            for stream in streams where stream % 3 == 0 { caller.sends(.reset(stream, .cancel)) }
            _ = caller.receive()
            for stream in streams where stream % 3 > 0 {
                let body = caller.frames.filter { $0.kind == .data && $0.stream == stream }.flatMap(\.payload)
                #expect(body == [UInt8](repeating: UInt8(stream), count: piece))
            }
            #expect(!caller.session.isBusy && !caller.isClosed)
        }
    }

    @Test(arguments: [(65535, 0), (65536, 1)])
    func `the user is reported when much that it sent is taken, and not of little`(count: Int, reported: Int) throws {
        let caller = HTTP2Caller(settings: [.window: 0])
        caller.sends(.window(0, 1 << 20), .request(1, end: true))
        let user = caller.users[0]
        let stream = try #require(user.stream)
        stream.send(head: Message.response(200), end: false)
        _ = caller.receive()
        user.notesDrained = true
        stream.send(body: String(repeating: "x", count: count))
        caller.sends(.window(1, count - 1))
        _ = caller.receive()
        #expect(stream.queuedBytes == 1 && !user.saw.contains("drained"))
        caller.sends(.window(1, 1))
        _ = caller.receive()
        #expect(stream.queuedBytes == 0 && user.saw.filter { $0 == "drained" }.count == reported)
        // What was told is told no second time, unless as much waits again.
        stream.send(body: "x")
        caller.sends(.window(1, 1))
        _ = caller.receive()
        #expect(stream.queuedBytes == 0 && user.saw.filter { $0 == "drained" }.count == reported)
    }

    @Test func `whoever is reported that much waits finds all of it there`() {
        let upstream = HTTP2Upstream()
        let users = (0..<16).map { _ in upstream.asks() }
        _ = upstream.receive()
        for user in users { user.stream?.pause(.slowPeer) }
        upstream.whenRoom = {
            if upstream.session.holdsMuch { users[15].stream?.resume(.slowPeer) }
        }
        let piece = [UInt8](repeating: 0x78, count: 16384)
        for number in 0..<16 {
            upstream.responses(.response(2 * number + 1))
            for _ in 0..<4 { upstream.responses(.data(2 * number + 1, piece)) }
        }
        #expect(users[15].saw == ["response 200", "body " + String(repeating: "x", count: 65536)])
        #expect(users[15].stream?.heldBytes == 0)
    }
}

extension HTTP2Caller {
    /// Sends so many bytes of a body, in frames of the usual size.
    fileprivate func sendsBody(_ stream: Int, _ count: Int) {
        for start in stride(from: 0, to: count, by: 16384) {
            sends(.data(stream, [UInt8](repeating: 0x78, count: min(16384, count - start))))
        }
    }

    /// By how much a window has been opened until now; that of the connection for 0.
    fileprivate func opened(_ stream: Int) -> Int {
        _ = receive()
        let first = stream == 0 ? 1 : 0
        return frames.filter { $0.kind == .window && $0.stream == stream }.dropFirst(first)
            .reduce(0) { $0 + $1.payload.bigEndian }
    }

    /// How many bytes of bodies the lines have.
    fileprivate func bytes(of lines: [String]) -> Int {
        lines.filter { $0.contains(" DATA") }.reduce(0) { $0 + $1.filter { $0 == "x" }.count }
    }
}
