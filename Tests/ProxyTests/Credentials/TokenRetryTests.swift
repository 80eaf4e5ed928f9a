import Events
import HTTP2Kit
import Testing
import Time

@testable import Credentials
@testable import Proxy

/// Calls whose token the upstream rejects: it is fetched anew, and the call goes again with the new one.
@Suite struct TokenRetryTests {
    private static func token(_ options: String = "") -> String {
        let source = #"oauth2: {token_url: "http://127.0.0.1:9/token", client_id: me}"#
        return "{token: {\(source)\(options.isEmpty ? "" : ", " + options)}}"
    }

    /// A call goes out with the token `one`, which it has waited for.
    private func ask(_ call: CallScript, _ fields: (String, String)...) {
        fields.isEmpty ? call.begin() : call.begin(fields[0])
        call.say("hello", end: true)
        call.harness.settle()
        #expect(call.harness.credentialRequests.drain() == ["fetch oauth2"])
        #expect(call.harness.upstream().connects == 0)
        call.harness.deliver("one")
        call.accept()
        call.upstreamReceives("head", "message hello", "end")
        #expect(authorization(call) == "Bearer one")
    }

    /// And the upstream rejects that.
    private func reject(_ call: CallScript, _ fields: (String, String)...) {
        fields.isEmpty ? ask(call) : ask(call, fields[0])
        call.reject()
        call.harness.settle()
    }

    private func authorization(_ call: CallScript) -> String? { call.upstreamFrames.head["authorization"] }

    @Test(arguments: ["\(token())", "{name: a, gate: {}}, \(token()), {name: c, gate: {}}"])
    func `a rejected token is fetched once more, and the call goes again`(_ chain: String) {
        runCall(chain) { call in
            reject(call)
            #expect(call.harness.credentialRequests.drain() == ["rejected oauth2 one"])
            call.callerReceives()
            call.harness.deliver("two")
            call.askedAgain()
            #expect(authorization(call) == "Bearer two")
            call.settleWell()
            #expect(call.harness.credentialRequests.drain() == ["accepted oauth2 default"])
            #expect(call.harness.retries("unauthenticated") == 1)
            let events = call.harness.eventLog.drain()
            guard !events.isEmpty else { return }
            // A status of HTTP is a rejection by its head, others are by their end.
            let heads = call.style == .connectUnary ? 1 : 2
            #expect(events.filter { $0 == "a response head" }.count == heads, "\(call.style)")
            #expect(events.filter { $0.hasPrefix("a response end") } == ["a response end ok"])
            #expect(events.filter { $0 == "c response head" }.count == 2)
            #expect(events.filter { $0.contains("finished") }.count == 2)
        }
    }

    @Test func `a rejection in gRPC can be a head alone, or a status of HTTP`() {
        for rejection in [[("grpc-status", "16")], [("x-reason", "none")]] {
            runCall(Self.token(), in: [.grpc]) { call in
                ask(call)
                if rejection[0].0 == "grpc-status" {
                    call.respondOnly(rejection[0])
                } else {
                    call.upstream.send(.response(1, 401, end: true))
                }
                call.harness.settle()
                call.harness.deliver("two")
                call.askedAgain()
                call.settleWell()
            }
        }
    }

    @Test func `a token that is rejected again passes the rejection on`() {
        runCall(Self.token()) { call in
            reject(call)
            call.harness.deliver("two")
            call.askedAgain()
            call.reject()
            call.callerSeesRejection()
            #expect(call.harness.retries("unauthenticated") == 1)
            #expect(call.harness.credentialRequests.drain() == ["rejected oauth2 one"])
        }
    }

    @Test func `while another token is fetched for one upstream, the others get the one there is`() {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {bad: "http://127.0.0.1:9001", good: "http://127.0.0.1:9002"}
            interceptors: [\(Self.token())]
            routes: [{match: {path: /bad}, upstream: bad}, {upstream: good}]
            """
        runProxy(yaml) { harness in
            let callers = [harness.caller(), harness.caller()]
            callers[0].send(http("GET /bad HTTP/1.1", "host: a"))
            harness.settle()
            harness.deliver("one")
            let bad = harness.upstream("127.0.0.1:9001").accept()
            #expect(bad.head().contains("\r\nauthorization: Bearer one\r\n"))
            bad.send(http("HTTP/1.1 401 Unauthorized", "content-length: 2", body: "no"))
            harness.settle()
            #expect(harness.credentialRequests.drain() == ["fetch oauth2", "rejected oauth2 one"])
            for _ in 1...2 {
                callers[1].send(get)
                let good = harness.upstream("127.0.0.1:9002").accept()
                #expect(good.head().contains("\r\nauthorization: Bearer one\r\n"))
                good.send(http("HTTP/1.1 200 OK", "content-length: 2", "connection: close", body: "ok"))
                #expect(callers[1].head().hasPrefix("HTTP/1.1 200 "))
                callers[1].expect("ok")
            }
            let late = harness.caller()
            late.send(http("GET /bad HTTP/1.1", "host: a"))
            harness.settle()
            callers[0].expectNothing()
            // The keeper says what there is while it fetches: that ends nobody's wait.
            harness.deliver("one", isSuspect: true)
            callers[0].expectNothing()
            #expect(harness.credentialRequests.drain() == ["fetch oauth2"])
            harness.deliver("two")
            let again = [bad, harness.upstream("127.0.0.1:9001").accept()]
            for peer in again { #expect(peer.head().contains("\r\nauthorization: Bearer two\r\n")) }
        }
    }

    @Test func `another call has brought a new one already: nothing is ordered`() {
        runCall(Self.token(), in: [.grpc]) { call in
            ask(call)
            call.harness.deliver("two")
            call.reject()
            call.askedAgain()
            #expect(authorization(call) == "Bearer two")
            #expect(call.harness.credentialRequests.drain() == [])
            call.settleWell()
        }
    }

    @Test(arguments: [true, false])
    func `what was sent before a rejection was known does not decide on it`(_ isValueNew: Bool) {
        runCall(Self.token()) { call in
            reject(call)
            #expect(call.harness.credentialRequests.drain() == ["rejected oauth2 one"])
            // Another worker has asked for the token a moment ago.
            for _ in 1...2 { call.harness.deliver("one", isLate: true) }
            call.callerReceives()
            #expect(call.harness.skippedRetries("credential") == 0)
            call.harness.deliver(isValueNew ? "two" : "one")
            guard isValueNew else { return call.callerSeesRejection() }
            call.askedAgain()
            #expect(authorization(call) == "Bearer two")
            call.settleWell()
            #expect(call.harness.retries("unauthenticated") == 1)
        }
    }

    @Test func `all who wait do so for one order`() {
        runCall(Self.token(), in: Style.streams) { call in
            let other = CallScript(call.harness, call.style, of: call.caller, stream: 3)
            for call in [call, other] {
                call.begin()
                call.say("hello", end: true)
            }
            call.harness.settle()
            #expect(call.harness.credentialRequests.drain() == ["fetch oauth2"])
            call.harness.deliver("one")
            call.accept()
            other.accept(on: call.upstream, stream: 3)
            for call in [call, other] { call.upstreamReceives("head", "message hello", "end") }
            for call in [call, other] { call.reject() }
            call.harness.settle()
            #expect(call.harness.credentialRequests.drain() == ["rejected oauth2 one"])
            call.harness.deliver("two")
            call.askedAgain(stream: 5)
            other.askedAgain(stream: 7)
            for call in [call, other] { #expect(authorization(call) == "Bearer two") }
            for call in [call, other] { call.settleWell() }
            #expect(call.harness.credentialRequests.drain() == ["accepted oauth2 default", "accepted oauth2 default"])
        }
    }

    // MARK: Where there is no other token

    @Test(arguments: ["same", "none", "kept", "rejection", "never"])
    func `without another token the rejection passes only if the same one has come again`(_ outcome: String) {
        runCall(Self.token("wait: 1s")) { call in
            reject(call)
            call.callerReceives()
            switch outcome {
            case "same": call.harness.deliver("one")
            case "kept": call.harness.deliver("one", error: CredentialError("it is down"))
            case "none": call.harness.deliver(nil, error: CredentialError("it is down"))
            case "rejection": call.harness.deliver(nil, error: CredentialError("go away", isRejection: true))
            default: break
            }
            let wants = outcome == "none" ? ["fetch oauth2"] : []
            #expect(call.harness.credentialRequests.drain() == ["rejected oauth2 one"] + wants)
            if ["none", "kept", "never"].contains(outcome) {
                call.callerReceives()
                call.harness.pass(.milliseconds(1020))
            }
            let down = "there is no token: it is down"
            let texts = ["none": down, "kept": down, "rejection": "there is no token: go away"]
            if outcome == "same" {
                call.callerSeesRejection()
            } else {
                call.callerReceives("head", "end unavailable \(texts[outcome] ?? "there is no token")")
            }
            #expect(call.harness.skippedRetries("credential") == 1)
            #expect(call.harness.retries("unauthenticated") == 0)
        }
    }

    @Test func `who wants no retry gets the rejection at once`() {
        runCall(Self.token("retry: false")) { call in
            reject(call)
            call.callerSeesRejection()
            #expect(call.harness.credentialRequests.drain() == [])
        }
    }

    @Test func `a token that never changes leads to no retry`() {
        runCall("{token: {value: one}}") { call in
            call.ask()
            #expect(authorization(call) == "Bearer one")
            call.reject()
            call.callerSeesRejection()
        }
    }

    @Test func `a request too large to go again is rejected, but not the next`() {
        runCall(Self.token(), in: [.grpc, .connectStream], on: [.memory]) { call in
            let piece = String(repeating: "x", count: 12_000)
            call.begin()
            call.harness.settle()
            call.harness.deliver("one")
            call.accept()
            call.upstream.send(.window(0, 100_000), .window(1, 100_000))
            for count in 1...6 { call.say(piece, end: count == 6) }
            call.harness.until { call.upstreamFrames.received.last == "end" }
            call.upstreamFrames.remove(call.upstreamFrames.received.count)
            _ = call.harness.credentialRequests.drain()
            call.reject()
            call.callerSeesRejection()
            #expect(call.harness.skippedRetries("buffer") == 1)
            #expect(call.harness.credentialRequests.drain() == ["rejected oauth2 one"])
        }
    }

    @Test(arguments: [true, false])
    func `what comes behind the end of a response does not reach the caller`(_ isLate: Bool) {
        runCall(Self.token(), in: [.connectStream, .grpcWeb]) { call in
            ask(call)
            let end = call.style == .connectStream ? "{}" : "grpc-status: 0\r\n"
            let flags: UInt8 = call.style == .connectStream ? 2 : 0x80
            call.respond()
            call.reply("new")
            call.harness.settle()
            let pieces = [call.style.framed(end.latin1, flags: flags), call.written("more")]
            for piece in isLate ? pieces : [pieces[0] + pieces[1]] {
                call.upstream.send(.data(1, piece))
                call.harness.settle()
            }
            call.callerReceives("head", "message new")
            #expect(!String(decoding: call.callerFrames.body, as: UTF8.self).contains("more"))
            // The end that has gone out cannot be taken back.
            let error = "end internal a message follows the end of the response"
            #expect(call.callerFrames.received.last == (isLate ? "reset INTERNAL_ERROR" : error))
        }
    }

    @Test(arguments: [true, false])
    func `a token that has ended is no other token`(_ isSame: Bool) {
        runCall(Self.token("wait: 1s")) { call in
            reject(call)
            call.harness.deliver(isSame ? "one" : "two", lifetime: -1 * Duration.second)
            call.harness.pass(.milliseconds(1020))
            if isSame {
                call.callerSeesRejection()
            } else {
                call.harness.until { call.callerFrames.received.count >= 2 }
                #expect(call.callerFrames.received.last?.hasPrefix("end unavailable the token expired at 20") == true)
            }
        }
    }

    // MARK: Ends while it waits

    @Test func `a caller that gives up while its call waits ends it once`() {
        runCall("{name: a, gate: {}}, \(Self.token())") { call in
            reject(call)
            call.cancel()
            call.harness.settle()
            call.harness.deliver("two")
            call.harness.settle()
            #expect(
                call.harness.eventLog.events.filter { $0.contains("finished") } == ["a finished canceled by caller"]
            )
            #expect(call.harness.retries("unauthenticated") == 0)
        }
    }

    @Test func `a caller that gives up before there is a token is never heard of upstream`() {
        runCall("{name: a, gate: {}}, \(Self.token())") { call in
            call.begin()
            call.harness.settle()
            call.cancel()
            call.harness.settle()
            call.harness.deliver("one")
            call.harness.settle()
            #expect(call.harness.upstream().connects == 0)
            #expect(
                call.harness.eventLog.events.filter { $0.contains("finished") } == ["a finished canceled by caller"]
            )
        }
    }

    @Test func `the caller's time is over while its call waits`() {
        runCall(Self.token()) { call in
            reject(call, call.style.timeoutField)
            call.harness.pass(.milliseconds(1020))
            call.harness.until { call.callerFrames.received.count >= 2 }
            #expect(call.callerFrames.received.last?.hasPrefix("end deadline_exceeded") == true, "\(call.style)")
            call.harness.deliver("two")
            call.harness.settle()
            #expect(call.harness.retries("unauthenticated") == 0)
        }
    }

    // MARK: HTTP/1.1

    @Test(arguments: Transport.allCases)
    func `a call of HTTP 1 goes again, too`(_ transport: Transport) {
        runProxy(transport, plain + "\ninterceptors: [\(Self.token())]\n") { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            harness.deliver("one")
            let upstream = harness.upstream().accept()
            #expect(upstream.head().contains("\r\nauthorization: Bearer one\r\n"))
            upstream.expect("{}")
            upstream.send(http("HTTP/1.1 401 Unauthorized", "content-length: 2", body: "no"))
            harness.settle()
            #expect(harness.credentialRequests.drain() == ["fetch oauth2", "rejected oauth2 one"])
            caller.expectNothing()
            harness.deliver("two")
            let again = upstream.end == nil ? upstream : harness.upstream().accept()
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

    @Test(arguments: Transport.allCases)
    func `a request with trailers goes again with them after its token was rejected`(_ transport: Transport) {
        runProxy(transport, plain + "\ninterceptors: [\(Self.token())]\n") { harness in
            let caller = harness.caller()
            caller.send(Self.withTrailers)
            harness.settle()
            harness.deliver("one")
            let upstream = harness.upstream().accept()
            #expect(upstream.head().contains("\r\nauthorization: Bearer one\r\n"))
            upstream.expect("5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n")
            upstream.send(http("HTTP/1.1 401 Unauthorized", "content-length: 2", body: "no"))
            harness.settle()
            harness.deliver("two")
            let again = upstream.end == nil ? upstream : harness.upstream().accept()
            #expect(again.head().contains("\r\nauthorization: Bearer two\r\n"))
            again.expect("5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n")
            again.send(fine)
            caller.expect(fine)
            #expect(harness.retries("unauthenticated") == 1)
            #expect(harness.skippedRetries("buffer") == 0)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a request with trailers goes again with them after its stream was rejected, or its response was judged`(
        _ transport: Transport
    ) {
        let retry = "rules: [{when: {status: 503}, retry: {allow_non_idempotent: true}}], max_retries: 1"
        let rule = "{validate: {\(retry)}}"
        let url = plain.replacing("http:", with: "h2c:")
        runProxy(transport, "\(url)\ninterceptors: [\(rule)]\n") { harness in
            let caller = harness.caller()
            caller.send(Self.withTrailers)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            for (stream, end) in [(1, true), (3, false), (5, false)] {
                let lines = [upstream.next(), upstream.next(), upstream.next()]
                #expect(lines[0].hasPrefix("\(stream) HEADERS "))
                #expect(lines[1].contains("hello"), "\(lines)")
                #expect(lines[2].contains("x-sum: 1"), "\(lines)")
                if end {
                    upstream.send(.reset(stream, .rejected))
                } else if stream == 3 {
                    upstream.send(.response(stream, 503, [:], end: true))
                } else {
                    upstream.send(.response(stream, end: true))
                }
            }
            #expect(caller.head().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test(arguments: Transport.allCases)
    func `a token made of the header that it replaces is rejected and fetched like others`(_ transport: Transport) {
        let exchange = #"{token_url: "http://127.0.0.1:1/t", subject_token: "{header:authorization}"}"#
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: h2c://127.0.0.1:9000
            interceptors: [{token: {exchange: \(exchange)}}]
            """
        runProxy(transport, yaml) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("authorization", "Bearer mine"), end: true))
            harness.until { harness.credentialRequests.source != nil }
            harness.deliver("one")
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().hasSuffix("authorization: Bearer one"))
            _ = harness.credentialRequests.drain()
            upstream.send(.response(1, 401, [:], end: true))
            harness.settle()
            #expect(harness.credentialRequests.drain() == ["rejected exchange one"])
            harness.deliver("two")
            #expect(upstream.next().hasSuffix("authorization: Bearer two"))
            upstream.send(.response(3, end: true))
            #expect(caller.next().contains(":status: 200"))
        }
    }
}
