import HTTP
import HTTP2Kit
import Testing

/// Peers that do what RFC 9113 allows, in any order, and learn late of what has become of their streams.
@Suite struct HTTP2HonestPeerTests {
    /// What a peer knows of a stream of its own.
    private struct Stream {
        let id: Int
        /// Whether the peer may still send DATA and HEADERS on it.
        var isSending = true
        /// Whether the peer knows that nothing more comes on it.
        var isOver = false

        var isClosed: Bool { !isSending && isOver }
    }

    /// The frames that a peer sends, which arrive some at a time.
    private struct Peer {
        var random: SeededGenerator
        var streams: [Stream] = []
        var buffer: [UInt8] = []
        /// What has come and is not read yet.
        var unread: [String] = []

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        mutating func pick(_ condition: (Stream) -> Bool) -> Int? {
            streams.indices.filter { condition(streams[$0]) }.randomElement(using: &random)
        }

        mutating func send(_ frames: Frame...) { buffer += frames.flatMap(\.bytes) }

        /// Cuts off a part of what has been sent.
        mutating func next() -> [UInt8] {
            let count = chance(50) ? buffer.count : Int.random(in: 0...buffer.count, using: &random)
            defer { buffer.removeFirst(count) }
            return Array(buffer.prefix(count))
        }

        /// Goes on with a stream, or ends it.
        mutating func goOn(_ index: Int) {
            let id = streams[index].id
            switch Int.random(in: 0..<8, using: &random) {
            case 0: send(.data(id, end: true))
            case 1: send(.data(id, "x", end: true))
            case 2: send(.headers(id, ["t": "1"], end: true))
            case 3: send(.reset(id, .cancel))
            case 4: return send(.data(id))
            default: return send(.data(id, "abc"))
            }
            streams[index].isSending = false
            if buffer.suffix(13).starts(with: [0, 0, 4, 3]) { streams[index].isOver = true }
        }

        /// Sends what may come at any time.
        mutating func interject() {
            let any = 2 * Int.random(in: 0..<40, using: &random) + 1
            switch Int.random(in: 0..<6, using: &random) {
            case 0: send(.priority(any))
            case 1: send(.priority(any, on: any + 2))
            case 2: send(.ping())
            case 3: send(Frame(type: 99, flags: 0xFF, stream: any, [1, 2]))
            default:
                // It has not heard yet that the stream is closed, so it may be.
                guard let index = pick({ !$0.isClosed }) else { return }
                send(.window(streams[index].id, 10))
            }
        }

        /// Takes what the other side has sent, and may read it later.
        mutating func receive(_ lines: [String]) -> [String] {
            unread += lines
            guard chance(50) else { return [] }
            defer { unread = [] }
            learn(unread)
            return unread
        }

        private mutating func learn(_ lines: [String]) {
            for index in streams.indices {
                let own = lines.filter { $0.hasPrefix("\(streams[index].id) ") }
                if own.contains(where: { $0.contains("/end") }) { streams[index].isOver = true }
                guard own.contains(where: { $0.contains("RST_STREAM") }) else { continue }
                streams[index].isOver = true
                streams[index].isSending = false
            }
        }
    }

    private func expectNoError(_ lines: [String], _ seed: UInt64) throws {
        let errors = lines.filter {
            $0.contains("GOAWAY") && !$0.hasSuffix(" NO_ERROR") || $0.contains("STREAM_CLOSED")
        }
        try #require(errors.isEmpty, "seed \(seed)")
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `a caller is never blamed for what it could not know`(seed: UInt64) throws {
        try callerIsNotBlamed(HTTP2Caller(limits: HTTPLimits(discard: 20)), seed)
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `nor a caller that is read a few heads at a time, and has not seen how many streams it may have`(
        seed: UInt64
    ) throws {
        let caller = HTTP2Caller(limits: HTTPLimits(discard: 20, streams: 3), begins: false)
        caller.sends(FrameReader.preface)
        caller.sends(.settings())
        caller.hasRunLong = true
        try callerIsNotBlamed(caller, seed)
    }

    private func callerIsNotBlamed(_ caller: HTTP2Caller, _ seed: UInt64) throws {
        var peer = Peer(random: SeededGenerator(seed: seed))
        var acceptsNew = true
        for _ in 0..<200 {
            if peer.chance(30), acceptsNew, peer.streams.count(where: { !$0.isClosed }) < 4 {
                let isEnd = peer.chance(30)
                let id = (peer.streams.last?.id ?? -1) + (peer.chance(80) ? 2 : 4)
                peer.send(.request(id, end: isEnd))
                peer.streams.append(Stream(id: id, isSending: !isEnd))
            }
            if peer.chance(60), let index = peer.pick(\.isSending) { peer.goOn(index) }
            if peer.chance(30) { peer.interject() }
            if peer.chance(50) {
                let bytes = peer.next()
                peer.buffer = bytes.dropFirst(caller.offers(bytes)) + peer.buffer
            }
            act(on: caller, &peer)
            guard peer.chance(30) else { continue }
            let lines = caller.receive()
            try expectNoError(lines, seed)
            if peer.receive(lines).contains(where: { $0.hasPrefix("GOAWAY") }) { acceptsNew = false }
            if caller.isClosed { return }
        }
        try #require(!caller.isClosed)
    }

    /// Something that happens on our side.
    private func act(on caller: HTTP2Caller, _ peer: inout Peer) {
        guard let stream = caller.users.randomElement(using: &peer.random)?.stream else { return }
        switch Int.random(in: 0..<12, using: &peer.random) {
        case 0, 1: stream.response(200)
        case 2: stream.send(head: Message.response(200), end: false)
        case 3: stream.send(body: "hello")
        case 4: stream.sendEnd(trailers: Message.trailers(["t": "1"]))
        case 5: stream.reset(.canceled)
        case 6: stream.pause(.slowPeer)
        case 7: stream.resume(.slowPeer)
        case 8: caller.waitsASecond()
        case 9 where peer.chance(10): caller.session.drain()
        default: break
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `an upstream is never blamed for what it could not know`(seed: UInt64) throws {
        let upstream = HTTP2Upstream()
        var peer = Peer(random: SeededGenerator(seed: seed))
        var users: [ScriptedUser] = []
        var begun: Set<Int> = []
        for _ in 0..<200 {
            if peer.chance(30) { users.append(peer.chance(50) ? upstream.asks() : upstream.opens()) }
            if peer.chance(60), let user = users.randomElement(using: &peer.random), let stream = user.stream {
                switch Int.random(in: 0..<5, using: &peer.random) {
                case 0: stream.send(head: Message.request("POST"), end: false)
                case 1: stream.send(body: "hello")
                case 2: stream.sendEnd(trailers: nil)
                case 3: stream.reset(.canceled)
                default: stream.pause(.slowPeer)
                }
            }
            if peer.chance(60), let index = peer.pick(\.isSending) {
                // The head comes first.
                if begun.insert(index).inserted {
                    peer.send(.response(peer.streams[index].id))
                } else {
                    peer.goOn(index)
                }
            }
            if peer.chance(30) { peer.interject() }
            if peer.chance(50) { upstream.responses(peer.next()) }
            guard peer.chance(30) else { continue }
            let lines = upstream.receive()
            try expectNoError(lines, seed)
            for line in lines where line.contains(":method:") {
                peer.streams.append(Stream(id: Int(line.prefix { $0 != " " }) ?? 0))
            }
            _ = peer.receive(lines)
        }
        try #require(!upstream.isClosed)
    }
}
