import HTTP
import HTTP2Kit
import Testing
import Time

/// How many streams a caller may waste on one HTTP/2 connection.
@Suite struct HTTP2ResetLimitTests {

    /// What makes us reset a stream, by what it asks for or does.
    enum Provocation: CaseIterable {
        case malformedHead, tooLargeWindow, dataBeyondLength

        func frames(_ stream: Int) -> [UInt8] {
            switch self {
            case .malformedHead: Frame.request(stream, "GET", "/", ["X": "y"], end: true).bytes
            case .tooLargeWindow: Frame.request(stream).bytes + Frame.window(stream, Int(Int32.max)).bytes
            case .dataBeyondLength:
                Frame.request(stream, "POST", "/", ["content-length": "1"]).bytes + Frame.data(stream, "xx").bytes
            }
        }
    }

    private func exceeded(_ caller: HTTP2Caller) -> [String] {
        caller.saw.filter { $0.hasPrefix("exceeded") && $0 != "exceeded: window" }
    }

    @Test func `streams that are reset as soon as they began are counted`() {
        let caller = HTTP2Caller(limits: HTTPLimits(resets: 30))
        for number in 0..<30 { caller.sends(.request(2 * number + 1, end: true), .reset(2 * number + 1, .cancel)) }
        #expect(exceeded(caller) == [] && !caller.isClosed)
        caller.sends(.request(61, end: true), .reset(61, .cancel))
        #expect(exceeded(caller) == ["exceeded: rapidReset"])
        #expect(caller.receive().last == "GOAWAY 61 ENHANCE_YOUR_CALM")
        #expect(caller.isClosed)
    }

    @Test func `time gives some of the resets back`() {
        let caller = HTTP2Caller(limits: HTTPLimits(resets: 60))
        for number in 0..<60 { caller.sends(.request(2 * number + 1, end: true), .reset(2 * number + 1, .cancel)) }
        for number in 60..<80 {
            if number % 2 == 0 { caller.now += .second }
            caller.sends(.request(2 * number + 1, end: true), .reset(2 * number + 1, .cancel))
        }
        #expect(exceeded(caller) == [] && !caller.isClosed)
        caller.sends(.request(161, end: true), .reset(161, .cancel))
        #expect(exceeded(caller) == ["exceeded: rapidReset"])
    }

    @Test(arguments: Provocation.allCases)
    func `streams that we are made to reset are counted`(provocation: Provocation) {
        let caller = HTTP2Caller(limits: HTTPLimits(resets: 30))
        for number in 0..<30 {
            caller.sends(provocation.frames(2 * number + 1))
            _ = caller.receive()
        }
        #expect(exceeded(caller) == [] && !caller.isClosed)
        caller.sends(provocation.frames(61))
        #expect(caller.receive().last == "GOAWAY 61 ENHANCE_YOUR_CALM")
        #expect(exceeded(caller) == ["exceeded: madeYouReset"])
        #expect(caller.isClosed)
    }

    @Test func `resets of ours that nobody provoked are not counted`() {
        let caller = HTTP2Caller(limits: HTTPLimits(resets: 30))
        for number in 0..<100 {
            caller.sends(.request(2 * number + 1))
            let stream = caller.users.last?.stream
            number % 2 == 0 ? stream?.reset(.canceled) : stream?.response(403)
            _ = caller.receive()
            caller.waitsASecond()
        }
        _ = caller.receive()
        #expect(caller.frames.filter { $0.kind == .reset }.count == 100)
        #expect(exceeded(caller) == [] && !caller.isClosed)
    }

    @Test func `both kinds of resets are counted together`() {
        let caller = HTTP2Caller(limits: HTTPLimits(resets: 30))
        for number in 0..<30 {
            let stream = 2 * number + 1
            if number % 2 == 0 {
                caller.sends(.request(stream, end: true), .reset(stream, .cancel))
            } else {
                caller.sends(Provocation.malformedHead.frames(stream))
            }
            _ = caller.receive()
        }
        #expect(exceeded(caller) == [])
        caller.sends(.request(61, end: true), .reset(61, .cancel))
        #expect(exceeded(caller) == ["exceeded: rapidReset"])
    }

    @Test func `a window beyond what there is ends the stream or the connection`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .window(1, Int(Int32.max)))
        #expect(caller.receive() == ["1 RST_STREAM FLOW_CONTROL_ERROR"])
        #expect(!caller.isClosed)
        caller.sends(.window(0, Int(Int32.max)))
        #expect(caller.receive().last == "GOAWAY 1 FLOW_CONTROL_ERROR")
        #expect(caller.saw.contains("exceeded: window"))
        #expect(caller.isClosed)
    }

    @Test func `as many streams as are allowed run, and no more`() {
        let caller = HTTP2Caller(limits: HTTPLimits(streams: 3))
        caller.sends(.request(1, end: true), .request(3), .request(5))
        #expect(caller.users.count == 3 && !caller.saw.contains("exceeded: streams"))
        caller.users[0].stream?.response(200)
        _ = caller.receive()
        caller.sends(.request(7))
        #expect(caller.users.count == 4 && !caller.saw.contains("exceeded: streams"))
        caller.sends(.request(9))
        #expect(caller.users.count == 4)
        #expect(caller.saw.contains("exceeded: streams"))
    }

    @Test func `a stream that was answered early counts until its request is over`() {
        let caller = HTTP2Caller(limits: HTTPLimits(streams: 2))
        caller.sends(.request(1), .request(3))
        for user in caller.users { user.stream?.response(200) }
        _ = caller.receive()
        caller.sends(.data(1, end: true), .request(5))
        #expect(caller.users.count == 3 && !caller.saw.contains("exceeded: streams"))
        caller.waitsASecond()
        #expect(caller.receive() == ["3 RST_STREAM NO_ERROR"])
        caller.sends(.request(7))
        #expect(caller.users.count == 4 && !caller.saw.contains("exceeded: streams"))
    }

    @Test func `before it knows how many are allowed, a caller is reported which were too many`() {
        let caller = HTTP2Caller(limits: HTTPLimits(streams: 1), begins: false)
        _ = caller.receive()
        caller.sends(FrameReader.preface)
        caller.sends(.settings(), .request(1, end: true), .request(3, end: true))
        #expect(caller.receive() == ["SETTINGS/ack", "3 RST_STREAM REFUSED_STREAM"])
        #expect(caller.saw.contains("exceeded: streams"))
        caller.users[0].stream?.response(200)
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 0"])
    }

    // MARK: Callers that take nothing

    @Test func `a stream that takes nothing for too long is ended, and the others go on`() throws {
        let caller = HTTP2Caller(settings: [.window: 10])
        caller.sends(.request(1, end: true), .request(3, end: true), .request(5, end: true), .window(3, 1000))
        for user in caller.users.prefix(2) { user.stream?.send(head: Message.response(200), end: false) }
        for user in caller.users.prefix(2) { user.stream?.send(body: String(repeating: "x", count: 15)) }
        _ = caller.receive()
        caller.now += 59 * .second
        caller.session.endStalled(since: caller.now - 60 * .second)
        #expect(caller.receive() == [])
        caller.now += 2 * .second
        caller.session.endStalled(since: caller.now - 60 * .second)
        caller.session.endStalled(since: caller.now - 60 * .second)
        #expect(caller.receive() == ["1 RST_STREAM CANCEL"])
        #expect(caller.saw.filter { $0 == "exceeded: slowReader" }.count == 1)
        #expect(caller.users.map { $0.saw.last } == ["reset: canceled", "end", "end"])
    }

    @Test func `a stream that takes a little now and then is let be`() throws {
        let caller = HTTP2Caller(settings: [.window: 10])
        caller.sends(.request(1, end: true))
        caller.users[0].stream?.response(200, body: String(repeating: "x", count: 100))
        for _ in 0..<5 {
            _ = caller.receive()
            caller.now += 59 * .second
            caller.sends(.window(1, 1))
            _ = caller.receive()
            caller.session.endStalled(since: caller.now - 60 * .second)
        }
        #expect(caller.receive() == [])
        #expect(!caller.saw.contains("exceeded: slowReader"))
    }
}
