import Events
import HTTP2Kit
import Testing

@testable import Proxy

/// Calls whose token the upstream refuses: it is fetched anew, and the call goes again with the new one.
@Suite struct TokenReplayTests {
    private static func token(_ options: String = "") -> String {
        let source = #"oauth2: {token_url: "http://127.0.0.1:9/token", client_id: me}"#
        return "{token: {\(source)\(options.isEmpty ? "" : ", " + options)}}"
    }

    /// A call goes out with the token `one`, which it has waited for.
    private func ask(_ talk: Conversation, _ fields: (String, String)...) {
        fields.isEmpty ? talk.begin() : talk.begin(fields[0])
        talk.say("hello", end: true)
        talk.scene.settle()
        #expect(talk.scene.orders.take() == ["want oauth2"])
        #expect(talk.scene.upstream().connects == 0)
        talk.scene.deliver("one")
        talk.accept()
        talk.upstreamHears("head", "message hello", "end")
        #expect(authorization(talk) == "Bearer one")
    }

    /// And the upstream refuses that.
    private func refuse(_ talk: Conversation, _ fields: (String, String)...) {
        fields.isEmpty ? ask(talk) : ask(talk, fields[0])
        talk.refuse()
        talk.scene.settle()
    }

    private func authorization(_ talk: Conversation) -> String? { talk.upstreamEar.head["authorization"] }

    @Test(arguments: ["\(token())", "{name: a, gate: {}}, \(token()), {name: c, gate: {}}"])
    func `a refused token is fetched once more, and the call goes again`(_ chain: String) {
        converse(chain) { talk in
            refuse(talk)
            #expect(talk.scene.orders.take() == ["refused oauth2 one"])
            talk.callerHears()
            talk.scene.deliver("two")
            talk.askedAgain()
            #expect(authorization(talk) == "Bearer two")
            talk.settleWell()
            #expect(talk.scene.orders.take() == ["accepted oauth2 default"])
            #expect(talk.scene.retries("unauthenticated") == 1)
            let events = talk.scene.diary.take()
            guard !events.isEmpty else { return }
            // A status of HTTP is a refusal by its head, others are by their end.
            let heads = talk.style == .connectUnary ? 1 : 2
            #expect(events.filter { $0 == "a response head" }.count == heads, "\(talk.style)")
            #expect(events.filter { $0.hasPrefix("a response end") } == ["a response end ok"])
            #expect(events.filter { $0 == "c response head" }.count == 2)
            #expect(events.filter { $0.contains("finished") }.count == 2)
        }
    }

    @Test func `a refusal in gRPC can be a head alone, or a status of HTTP`() {
        for refusal in [[("grpc-status", "16")], [("x-reason", "none")]] {
            converse(Self.token(), in: [.grpc]) { talk in
                ask(talk)
                if refusal[0].0 == "grpc-status" {
                    talk.respondOnly(refusal[0])
                } else {
                    talk.upstream.send(.response(1, 401, end: true))
                }
                talk.scene.settle()
                talk.scene.deliver("two")
                talk.askedAgain()
                talk.settleWell()
            }
        }
    }

    @Test func `a token that is refused again passes the refusal on`() {
        converse(Self.token()) { talk in
            refuse(talk)
            talk.scene.deliver("two")
            talk.askedAgain()
            talk.refuse()
            talk.callerHearsRefusal()
            #expect(talk.scene.retries("unauthenticated") == 1)
            #expect(talk.scene.orders.take() == ["refused oauth2 one"])
        }
    }

    @Test func `while another token is fetched for one upstream, the others get the one there is`() {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {bad: "http://127.0.0.1:9001", good: "http://127.0.0.1:9002"}
            interceptors: [\(Self.token())]
            routes: [{match: {path: /bad}, upstream: bad}, {upstream: good}]
            """
        play(yaml) { scene in
            let callers = [scene.caller(), scene.caller()]
            callers[0].send(http("GET /bad HTTP/1.1", "host: a"))
            scene.settle()
            scene.deliver("one")
            let bad = scene.upstream("127.0.0.1:9001").accept()
            #expect(bad.head().contains("\r\nauthorization: Bearer one\r\n"))
            bad.send(http("HTTP/1.1 401 Unauthorized", "content-length: 2", body: "no"))
            scene.settle()
            #expect(scene.orders.take() == ["want oauth2", "refused oauth2 one"])
            for _ in 1...2 {
                callers[1].send(get)
                let good = scene.upstream("127.0.0.1:9002").accept()
                #expect(good.head().contains("\r\nauthorization: Bearer one\r\n"))
                good.send(http("HTTP/1.1 200 OK", "content-length: 2", "connection: close", body: "ok"))
                #expect(callers[1].head().hasPrefix("HTTP/1.1 200 "))
                callers[1].expect("ok")
            }
            let late = scene.caller()
            late.send(http("GET /bad HTTP/1.1", "host: a"))
            scene.settle()
            callers[0].expectNothing()
            // The keeper says what there is while it fetches: that ends nobody's wait.
            scene.deliver("one", isDoubted: true)
            callers[0].expectNothing()
            #expect(scene.orders.take() == ["want oauth2"])
            scene.deliver("two")
            let again = [bad, scene.upstream("127.0.0.1:9001").accept()]
            for peer in again { #expect(peer.head().contains("\r\nauthorization: Bearer two\r\n")) }
        }
    }

    @Test func `another call has brought a new one already: nothing is ordered`() {
        converse(Self.token(), in: [.grpc]) { talk in
            ask(talk)
            talk.scene.deliver("two")
            talk.refuse()
            talk.askedAgain()
            #expect(authorization(talk) == "Bearer two")
            #expect(talk.scene.orders.take() == [])
            talk.settleWell()
        }
    }

    @Test func `all who wait do so for one order`() {
        converse(Self.token(), in: Style.streams) { talk in
            let other = Conversation(talk.scene, talk.style, of: talk.caller, stream: 3)
            for call in [talk, other] {
                call.begin()
                call.say("hello", end: true)
            }
            talk.scene.settle()
            #expect(talk.scene.orders.take() == ["want oauth2"])
            talk.scene.deliver("one")
            talk.accept()
            other.accept(on: talk.upstream, stream: 3)
            for call in [talk, other] { call.upstreamHears("head", "message hello", "end") }
            for call in [talk, other] { call.refuse() }
            talk.scene.settle()
            #expect(talk.scene.orders.take() == ["refused oauth2 one"])
            talk.scene.deliver("two")
            talk.askedAgain(stream: 5)
            other.askedAgain(stream: 7)
            for call in [talk, other] { #expect(authorization(call) == "Bearer two") }
            for call in [talk, other] { call.settleWell() }
            #expect(talk.scene.orders.take() == ["accepted oauth2 default", "accepted oauth2 default"])
        }
    }

    // MARK: Where there is no other token

    @Test(arguments: ["same", "none", "kept", "refusal", "never"])
    func `without another token the refusal passes only if the same one has come again`(_ outcome: String) {
        converse(Self.token("wait: 1s")) { talk in
            refuse(talk)
            talk.callerHears()
            switch outcome {
            case "same": talk.scene.deliver("one")
            case "kept": talk.scene.deliver("one", failure: CredentialFailure("it is down"))
            case "none": talk.scene.deliver(nil, failure: CredentialFailure("it is down"))
            case "refusal": talk.scene.deliver(nil, failure: CredentialFailure("go away", isRefusal: true))
            default: break
            }
            let wants = outcome == "none" ? ["want oauth2"] : []
            #expect(talk.scene.orders.take() == ["refused oauth2 one"] + wants)
            if ["none", "kept", "never"].contains(outcome) {
                talk.callerHears()
                talk.scene.pass(.milliseconds(1020))
            }
            let down = "there is no token: it is down"
            let texts = ["none": down, "kept": down, "refusal": "there is no token: go away"]
            if outcome == "same" {
                talk.callerHearsRefusal()
            } else {
                talk.callerHears("head", "end unavailable \(texts[outcome] ?? "there is no token")")
            }
            #expect(talk.scene.skippedRetries("credential") == 1)
            #expect(talk.scene.retries("unauthenticated") == 0)
        }
    }

    @Test func `who wants no replay gets the refusal at once`() {
        converse(Self.token("retry: false")) { talk in
            refuse(talk)
            talk.callerHearsRefusal()
            #expect(talk.scene.orders.take() == [])
        }
    }

    @Test func `a token that never changes leads to no replay`() {
        converse("{token: {value: one}}") { talk in
            talk.ask()
            #expect(authorization(talk) == "Bearer one")
            talk.refuse()
            talk.callerHearsRefusal()
        }
    }

    @Test func `a request too large to go again is refused, but not the next`() {
        converse(Self.token(), in: [.grpc, .connectStream], on: [.memory]) { talk in
            let piece = String(repeating: "x", count: 12_000)
            talk.begin()
            talk.scene.settle()
            talk.scene.deliver("one")
            talk.accept()
            talk.upstream.send(.window(0, 100_000), .window(1, 100_000))
            for count in 1...6 { talk.say(piece, end: count == 6) }
            talk.scene.until { talk.upstreamEar.heard.last == "end" }
            talk.upstreamEar.take(talk.upstreamEar.heard.count)
            _ = talk.scene.orders.take()
            talk.refuse()
            talk.callerHearsRefusal()
            #expect(talk.scene.skippedRetries("buffer") == 1)
            #expect(talk.scene.orders.take() == ["refused oauth2 one"])
        }
    }

    @Test(arguments: [true, false])
    func `what comes behind the end of a response does not reach the caller`(_ isLate: Bool) {
        converse(Self.token(), in: [.connectStream, .grpcWeb]) { talk in
            ask(talk)
            let end = talk.style == .connectStream ? "{}" : "grpc-status: 0\r\n"
            let flags: UInt8 = talk.style == .connectStream ? 2 : 0x80
            talk.respond()
            talk.reply("new")
            talk.scene.settle()
            let pieces = [talk.style.framed(end.latin1, flags: flags), talk.written("more")]
            for piece in isLate ? pieces : [pieces[0] + pieces[1]] {
                talk.upstream.send(.data(1, piece))
                talk.scene.settle()
            }
            talk.callerHears("head", "message new")
            #expect(!String(decoding: talk.callerEar.body, as: UTF8.self).contains("more"))
            // The end that has gone out cannot be taken back.
            let error = "end internal a message follows the end of the response"
            #expect(talk.callerEar.heard.last == (isLate ? "reset INTERNAL_ERROR" : error))
        }
    }

    @Test(arguments: [true, false])
    func `a token that has ended is no other token`(_ isSame: Bool) {
        converse(Self.token("wait: 1s")) { talk in
            refuse(talk)
            talk.scene.deliver(isSame ? "one" : "two", lifetime: -1 * Nanoseconds.second)
            talk.scene.pass(.milliseconds(1020))
            if isSame {
                talk.callerHearsRefusal()
            } else {
                talk.scene.until { talk.callerEar.heard.count >= 2 }
                #expect(talk.callerEar.heard.last?.hasPrefix("end unavailable the token expired at 20") == true)
            }
        }
    }

    // MARK: Ends while it waits

    @Test func `a caller that gives up while its call waits ends it once`() {
        converse("{name: a, gate: {}}, \(Self.token())") { talk in
            refuse(talk)
            talk.cancel()
            talk.scene.settle()
            talk.scene.deliver("two")
            talk.scene.settle()
            #expect(talk.scene.diary.events.filter { $0.contains("finished") } == ["a finished canceled by caller"])
            #expect(talk.scene.retries("unauthenticated") == 0)
        }
    }

    @Test func `a caller that gives up before there is a token is never heard of upstream`() {
        converse("{name: a, gate: {}}, \(Self.token())") { talk in
            talk.begin()
            talk.scene.settle()
            talk.cancel()
            talk.scene.settle()
            talk.scene.deliver("one")
            talk.scene.settle()
            #expect(talk.scene.upstream().connects == 0)
            #expect(talk.scene.diary.events.filter { $0.contains("finished") } == ["a finished canceled by caller"])
        }
    }

    @Test func `the caller's time is over while its call waits`() {
        converse(Self.token()) { talk in
            refuse(talk, talk.style.timeoutField)
            talk.scene.pass(.milliseconds(1020))
            talk.scene.until { talk.callerEar.heard.count >= 2 }
            #expect(talk.callerEar.heard.last?.hasPrefix("end deadline_exceeded") == true, "\(talk.style)")
            talk.scene.deliver("two")
            talk.scene.settle()
            #expect(talk.scene.retries("unauthenticated") == 0)
        }
    }

    // MARK: HTTP/1.1

    @Test(arguments: Stage.allCases)
    func `a call of HTTP 1 goes again, too`(_ stage: Stage) {
        play(stage, plain + "\ninterceptors: [\(Self.token())]\n") { scene in
            let caller = scene.caller()
            caller.send(say)
            scene.settle()
            scene.deliver("one")
            let upstream = scene.upstream().accept()
            #expect(upstream.head().contains("\r\nauthorization: Bearer one\r\n"))
            upstream.expect("{}")
            upstream.send(http("HTTP/1.1 401 Unauthorized", "content-length: 2", body: "no"))
            scene.settle()
            #expect(scene.orders.take() == ["want oauth2", "refused oauth2 one"])
            caller.expectNothing()
            scene.deliver("two")
            let again = upstream.end == nil ? upstream : scene.upstream().accept()
            #expect(again.head().contains("\r\nauthorization: Bearer two\r\n"))
            again.expect("{}")
            again.send(fine)
            caller.expect(fine)
        }
    }

    private static let withTrailers = """
        POST /pkg.Service/Say HTTP/1.1\r\nhost: app\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n\
        5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n
        """

    @Test(arguments: Stage.allCases)
    func `a request with trailers goes again with them after its token was rejected`(_ stage: Stage) {
        play(stage, plain + "\ninterceptors: [\(Self.token())]\n") { scene in
            let caller = scene.caller()
            caller.send(Self.withTrailers)
            scene.settle()
            scene.deliver("one")
            let upstream = scene.upstream().accept()
            #expect(upstream.head().contains("\r\nauthorization: Bearer one\r\n"))
            upstream.expect("5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n")
            upstream.send(http("HTTP/1.1 401 Unauthorized", "content-length: 2", body: "no"))
            scene.settle()
            scene.deliver("two")
            let again = upstream.end == nil ? upstream : scene.upstream().accept()
            #expect(again.head().contains("\r\nauthorization: Bearer two\r\n"))
            again.expect("5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n")
            again.send(fine)
            caller.expect(fine)
            #expect(scene.retries("unauthenticated") == 1)
            #expect(scene.skippedRetries("buffer") == 0)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a request with trailers goes again with them after its stream was refused, or its response was judged`(
        _ stage: Stage
    ) {
        let retry = "rules: [{when: {status: 503}, retry: {allow_non_idempotent: true}}], max_retries: 1"
        let rule = "{validate: {\(retry)}}"
        let url = plain.replacing("http:", with: "h2c:")
        play(stage, "\(url)\ninterceptors: [\(rule)]\n") { scene in
            let caller = scene.caller()
            caller.send(Self.withTrailers)
            let upstream = scene.upstream().acceptHTTP2(in: scene)
            for (stream, end) in [(1, true), (3, false), (5, false)] {
                let lines = [upstream.next(), upstream.next(), upstream.next()]
                #expect(lines[0].hasPrefix("\(stream) HEADERS "))
                #expect(lines[1].contains("hello"), "\(lines)")
                #expect(lines[2].contains("x-sum: 1"), "\(lines)")
                if end {
                    upstream.send(.reset(stream, .refused))
                } else if stream == 3 {
                    upstream.send(.response(stream, 503, [:], end: true))
                } else {
                    upstream.send(.response(stream, end: true))
                }
            }
            #expect(caller.head().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test(arguments: Stage.allCases)
    func `a token made of the header that it replaces is refused and fetched like others`(_ stage: Stage) {
        let exchange = #"{token_url: "http://127.0.0.1:1/t", subject_token: "{header:authorization}"}"#
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: h2c://127.0.0.1:9000
            interceptors: [{token: {exchange: \(exchange)}}]
            """
        play(stage, yaml) { scene in
            let caller = scene.http2Caller()
            caller.send(.say(1, "application/json", ("authorization", "Bearer mine"), end: true))
            scene.until { scene.orders.source != nil }
            scene.deliver("one")
            let upstream = scene.upstream().acceptHTTP2(in: scene)
            #expect(upstream.next().hasSuffix("authorization: Bearer one"))
            _ = scene.orders.take()
            upstream.send(.response(1, 401, [:], end: true))
            scene.settle()
            #expect(scene.orders.take() == ["refused exchange one"])
            scene.deliver("two")
            #expect(upstream.next().hasSuffix("authorization: Bearer two"))
            upstream.send(.response(3, end: true))
            #expect(caller.next().contains(":status: 200"))
        }
    }
}
