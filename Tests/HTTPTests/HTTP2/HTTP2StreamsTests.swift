import HTTP
import HTTP2Kit
import Testing

/// Many exchanges at once on one caller's connection.
@Suite struct HTTP2StreamsTests {
    @Test func `what belongs to many streams is reported to each`() {
        let caller = HTTP2Caller()
        let streams = Array(stride(from: 1, through: 199, by: 2))
        for stream in streams { caller.sends(.request(stream, "POST", "/\(stream)")) }
        for piece in ["a", "b", "c"] {
            for stream in streams.reversed() { caller.sends(.data(stream, "\(piece)\(stream)")) }
        }
        for stream in streams { caller.sends(.headers(stream, ["t": "\(stream)"], end: true)) }
        #expect(caller.users.count == streams.count)
        for (user, stream) in zip(caller.users, streams) {
            #expect(
                user.saw == [
                    "request POST /\(stream) host=a", "body a\(stream)b\(stream)c\(stream)", "end", "  t: \(stream)",
                ]
            )
        }
    }

    @Test func `responses in any order go each on its stream`() {
        let caller = HTTP2Caller()
        let streams = Array(stride(from: 1, through: 99, by: 2))
        for stream in streams { caller.sends(.request(stream, end: true)) }
        for user in caller.users.reversed() { user.stream?.send(head: Message.response(200), end: false) }
        for (user, stream) in zip(caller.users, streams) { user.stream?.send(body: "\(stream)") }
        for user in caller.users { user.stream?.sendEnd(trailers: nil) }
        let sent = caller.receive()
        for stream in streams {
            let own = sent.filter { $0.hasPrefix("\(stream) ") }
            #expect(own == ["\(stream) HEADERS :status: 200", "\(stream) DATA/end \(stream)"])
        }
        #expect(caller.saw.last == "idle")
        #expect(!caller.session.isBusy)
    }

    @Test func `the connection is idle when the last stream is over, each time`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true), .request(3, end: true))
        try #require(caller.users[1].stream).response(200)
        _ = caller.receive()
        #expect(!caller.saw.contains("idle"))
        caller.sends(.reset(1, .cancel))
        #expect(caller.saw.filter { $0 == "idle" }.count == 1)
        caller.sends(.request(5, end: true))
        #expect(caller.session.isBusy)
        try #require(caller.users[2].stream).response(200)
        _ = caller.receive()
        #expect(caller.saw.filter { $0 == "idle" }.count == 2)
    }

    @Test func `a thousand exchanges follow each other, and heads are used again`() {
        let caller = HTTP2Caller.served()
        for number in 0..<1000 {
            caller.sends(.request(2 * number + 1), .data(2 * number + 1, "x"))
            caller.sends(.headers(2 * number + 1, ["t": "1"], end: true))
            #expect(caller.receive().count == 1)
        }
        let heads = (0..<8).map { _ in caller.heads.acquire() }
        #expect(Set(heads.map { ObjectIdentifier($0) }).count == heads.count)
    }
}
