import HTTP
import HTTP2Kit
import Testing

/// What users of HTTP/2 streams do while they are being told something.
@Suite struct HTTP2ReentrancyTests {
    /// What a user does.
    enum Deed: CaseIterable {
        case reset, response, responseInPieces, pause, pauseAndResume, drain, abandon

        func callAsFunction(_ stream: any HTTPStream, _ caller: HTTP2Caller) {
            switch self {
            case .reset: stream.reset(.canceled)
            case .response: stream.response(200)
            case .responseInPieces:
                stream.send(head: Message.response(200), end: false)
                stream.send(body: String(repeating: "x", count: 10_000))
                stream.sendEnd(trailers: Message.trailers(["t": "1"]))
            case .pause: stream.pause(.slowPeer)
            case .pauseAndResume:
                stream.pause(.slowPeer)
                stream.resume(.slowPeer)
            case .drain: caller.session.drain()
            case .abandon: caller.session.abandon()
            }
        }
    }

    enum Moment: CaseIterable {
        case opened, body, end, reset, drained
    }

    @Test(arguments: Deed.allCases, Moment.allCases)
    func `a caller's user may do anything in any callback`(deed: Deed, moment: Moment) {
        let caller = HTTP2Caller(settings: [.window: 1 << 20])
        caller.sends(.window(0, 1 << 20))
        var done = 0
        caller.whenOpened = { [unowned caller] user, stream in
            let does: (any HTTPStream) -> Void = {
                done += 1
                deed($0, caller)
            }
            switch moment {
            case .opened: does(stream)
            case .body: user.whenBody = does
            case .end: user.whenEnd = does
            case .reset: user.whenReset = does
            case .drained:
                user.whenDrained = does
                stream.send(head: Message.response(200), end: false)
                stream.sendMuch()
            }
        }
        caller.sends(.request(1), .data(1, "x"), .headers(1, ["t": "1"], end: true), .request(3), .reset(3, .cancel))
        _ = caller.receive()
        caller.sends(.request(5), .data(5, "x"), .data(5, "y"), .window(5, 10))
        _ = caller.receive()
        caller.hangsUp()
        #expect(done > 0)
        #expect(caller.isClosed && !caller.session.isBusy)
        #expect(areAllDifferent(caller.heads))
        if deed == .reset, moment == .opened { #expect(caller.users[0].saw == ["request POST / host=a"]) }
    }

    @Test(arguments: Deed.allCases)
    func `a caller's user may do anything when it is given what waited`(deed: Deed) {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        let user = caller.users[0]
        user.stream?.pause(.noUpstream)
        caller.sends(.data(1, "x"), .headers(1, ["t": "1"], end: true))
        user.whenBody = { [unowned caller] in deed($0, caller) }
        user.stream?.resume(.noUpstream)
        _ = caller.receive()
        #expect(user.saw.prefix(2) == ["request POST / host=a", "body x"])
        if deed == .reset { #expect(user.saw.count == 2) }
        caller.hangsUp()
        #expect(areAllDifferent(caller.heads))
    }

    @Test func `a stream that is reset before its user is known reports it nothing`() {
        let caller = HTTP2Caller()
        caller.whenOpened = { _, stream in stream.reset(.canceled) }
        caller.sends(.request(1), .data(1, "x"), .reset(1, .cancel))
        caller.hangsUp()
        #expect(caller.users[0].saw == ["request POST / host=a"])
    }

    @Test func `what is sent from the word that there is room follows what was sent before`() {
        let caller = HTTP2Caller(settings: [.window: 1 << 20])
        caller.sends(.window(0, 1 << 20), .request(1, end: true))
        let user = caller.users[0]
        var left = 5
        user.whenDrained = { stream in
            guard left > 0 else { return }
            left -= 1
            stream.send(body: String(repeating: "\(left)", count: 65536))
            if left == 0 { stream.sendEnd(trailers: nil) }
        }
        user.stream?.send(head: Message.response(200), end: false)
        user.stream?.sendMuch()
        let body = ["x", "4", "3", "2", "1", "0"].map { String(repeating: $0, count: 65536) }.joined()
        let isInOrder = caller.receive() == ["1 HEADERS :status: 200", "1 DATA/end x" + body]
        #expect(isInOrder)
    }

    @Test func `draining from the word that the connection is idle ends it`() {
        let caller = HTTP2Caller.served()
        caller.whenIdle = { [unowned caller] in caller.session.drain() }
        caller.sends(.request(1, end: true))
        _ = caller.receive()
        caller.session.drain()
        _ = caller.receive()
        #expect(caller.isClosed)
    }

    // MARK: Upstreams

    /// What the user of an upstream's stream does.
    enum UpstreamDeed: CaseIterable {
        case reset, pause, pauseAndResume, ask, drain, hangUp

        func callAsFunction(_ stream: any HTTPStream, _ upstream: HTTP2Upstream) {
            switch self {
            case .reset: stream.reset(.canceled)
            case .pause: stream.pause(.slowPeer)
            case .pauseAndResume:
                stream.pause(.slowPeer)
                stream.resume(.slowPeer)
            case .ask: if upstream.session.room > 0 { upstream.asks() }
            case .drain: upstream.session.drain()
            case .hangUp: upstream.hangsUp()
            }
        }
    }

    enum UpstreamMoment: CaseIterable {
        case head, body, end, reset, drained
    }

    @Test(arguments: UpstreamDeed.allCases, UpstreamMoment.allCases)
    func `an upstream's user may do anything in any callback`(deed: UpstreamDeed, moment: UpstreamMoment) {
        let upstream = HTTP2Upstream(settings: [.window: 1 << 20])
        upstream.responses(.window(0, 1 << 20))
        var done = 0
        for _ in 0..<3 {
            let user = upstream.opens()
            let does: (any HTTPStream) -> Void = { [unowned upstream] in
                done += 1
                deed($0, upstream)
            }
            switch moment {
            case .head: user.whenHead = does
            case .body: user.whenBody = does
            case .end: user.whenEnd = does
            case .reset: user.whenReset = does
            case .drained: user.whenDrained = does
            }
            user.stream?.send(head: Message.request(), end: false)
            user.stream?.sendMuch()
        }
        _ = upstream.receive()
        upstream.responses(.response(1), .data(1, "x"), .data(1, "y"), .headers(1, ["t": "1"], end: true), .response(3))
        _ = upstream.receive()
        upstream.responses(.data(3, "x", end: true), .reset(5, .cancel))
        _ = upstream.receive()
        upstream.hangsUp()
        #expect(done > 0)
        #expect(!upstream.session.isBusy && upstream.session.room == 0)
        #expect(areAllDifferent(upstream.heads))
    }

    @Test func `the trailers are whole although the stream is reset while they are read`() {
        let upstream = HTTP2Upstream()
        let user = upstream.asks()
        user.whenEnd = { $0.reset(.canceled) }
        _ = upstream.receive()
        upstream.responses(.response(1), .headers(1, ["t": "1"], end: true))
        #expect(user.saw == ["response 200", "end", "  t: 1"])
        #expect(areAllDifferent(upstream.heads))
    }

    private func areAllDifferent(_ pool: HTTPHeadPool) -> Bool {
        let heads = (0..<8).map { _ in pool.acquire() }
        return Set(heads.map { ObjectIdentifier($0) }).count == heads.count
    }
}

extension HTTPStream {
    /// Sends so much that the user is told when it is taken.
    fileprivate func sendMuch() {
        send(body: "x")
        send(body: String(repeating: "x", count: 65536))
    }
}
