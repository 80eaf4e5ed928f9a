import HTTP2Kit
import RPC
import Testing

@testable import Proxy

/// Ends of responses that are seldom so.
@Suite struct RareEndTests {
    private func yaml(_ chain: String, listener: String = "") -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off\(listener.isEmpty ? "" : ", " + listener)}]
        upstream: h2c://127.0.0.1:9000
        interceptors: [\(chain)]
        """
    }

    @Test(arguments: [("{gate: {sees: [response end]}}", 200), ("{error: {code: aborted}}", 503)])
    func `a unary response that is too large to be held passes as it is, trailers and all`(
        _ chain: String,
        _ status: Int
    ) {
        runProxy(yaml(chain, listener: "limits: {held_message: 16B}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json"), .data(1, "{}", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            let body = #"{"code":"unavailable","message":"a long, long message"}"#
            upstream.send(
                .response(1, status, ["content-type": "application/json", "trailer-x-t": "u"]),
                .data(1, body, end: true)
            )
            let fields = "content-type: application/json | trailer-x-t: u"
            caller.expect("1 HEADERS :status: \(status) | \(fields)", "1 DATA/end \(body)")
        }
    }

    @Test(arguments: ["application/connect+json", "application/grpc-web+json"])
    func `metadata alone is added to an error in the last frame`(_ type: String) {
        runProxy(yaml("{error: {metadata: {x-why: busy}}}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type), .data(1, envelope("hello"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, ["content-type": type]))
            let isConnect = type.contains("connect")
            let json = envelope(#"{"error":{"code":"not_found","message":"m"}}"#, flags: 2)
            let end = isConnect ? json : envelope("grpc-status: 5\r\ngrpc-message: m\r\n", flags: 128)
            upstream.send(.data(1, envelope("{}") + end, end: true))
            let rest = caller.rest().joined()
            #expect(rest.contains(isConnect ? #""metadata":{"x-why":["busy"]}"# : "x-why: busy\r\n"))
            #expect(rest.contains(isConnect ? "not_found" : "grpc-status: 5"))
        }
    }

    @Test func `a response of our own whose message was dropped still says how it went`() {
        let chain = "{error: {code: aborted}}, {message: {on: response, drop: true}}, {respond: {json: {a: 1}}}"
        runProxy(yaml(chain)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, envelope("{}"), end: true))
            caller.expect(
                "1 HEADERS :status: 200 | content-type: application/grpc+json",
                "1 HEADERS/end grpc-status: 0"
            )
        }
    }

    @Test func `a message that is added behind one that is rejected goes nowhere`() {
        let chain = """
            {name: z, gate: {hold: [response end]}}, {name: a, gate: {reject: {response message 1: aborted}}}, \
            {name: b, gate: {add: {response message 1: y}}}
            """
        runCall(chain, in: [.grpc], on: [.memory]) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.reply("1")
            call.harness.settle()
            let seen = call.harness.eventLog.drain().filter { $0.hasPrefix("a response message") }
            #expect(seen.count == 1)
            call.harness.gates["z"].releaseAll()
            call.callerReceives("head", "end aborted no +google.rpc.RetryInfo")
        }
    }

    @Test func `what an interceptor says after it has waited is in the trace`() {
        runProxy(yaml("{gate: {sees: [request head], hold: [request head]}}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            harness.settle()
            harness.gates["gate"].release(nil, .reject(.init(.aborted, "late")))
            _ = caller.rest()
            let line = harness.worker.recent.all.map { String(decoding: $0.text, as: UTF8.self) }.joined()
            #expect(line.contains(#""verdict":"suspend""#))
            #expect(line.contains(#""event":"request_head","verdict":"reject""#))
        }
    }

    // MARK: Who hears of a rejection

    private static let rejected =
        "{name: z, gate: {}}, {error: {code: aborted}}, {unwind: true, reject: {code: not_found, message: no}}"

    @Test func `a rejection that unwinds is a response to those before it`() {
        runCall(Self.rejected) { call in
            call.begin(end: true)
            call.callerReceives("head", "end aborted no")
            let seen = call.harness.eventLog.drain()
            #expect(seen.contains("z response head") && seen.contains("z response end aborted"), "\(seen)")
        }
    }

    @Test func `any other ends where it is`() {
        runCall(Self.rejected.replacing("unwind: true, ", with: "")) { call in
            call.begin(end: true)
            call.callerReceives("head", "end not_found no")
            #expect(!call.harness.eventLog.drain().contains { $0.contains("response") })
        }
    }

    // MARK: Messages that are cut in two

    private static let looks =
        "{message: {on: request, require: {max: 1KiB}}}, {message: {on: response, require: {max: 1KiB}}}"

    @Test(arguments: ["application/grpc", "application/connect+json", "application/grpc-web"])
    func `a request that ends within a message is rejected, and none of that message forwarded`(_ type: String) {
        runProxy(yaml(Self.looks)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type), .data(1, envelope("one")))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            caller.send(.data(1, String(envelope("two").dropLast(2)), end: true))
            upstream.expect("1 RST_STREAM CANCEL")
            let response = caller.rest().joined()
            #expect(response.contains(type.contains("connect") ? "invalid_argument" : "grpc-status: 3"))
        }
    }

    @Test func `a response that ends within a message is an error`() {
        runProxy(yaml(Self.looks)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"), .data(1, envelope("one"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            let body = envelope("one") + String(envelope("two").dropLast(2))
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, body))
            upstream.send(.headers(1, ["grpc-status": "0"], end: true))
            let message = "grpc-message: the response ends in the middle of a message"
            caller.expect(
                "1 HEADERS :status: 200 | content-type: application/grpc",
                "1 DATA \(envelope("one"))",
                "1 HEADERS/end grpc-status: 13 | \(message)"
            )
        }
    }
}
