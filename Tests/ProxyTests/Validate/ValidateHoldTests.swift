import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// Responses of one message that wait until a rule on their end is decided.
@Suite struct ValidateHoldTests {
    /// The kind of a method by its type.
    enum Kind: String, CaseIterable {
        case unary = "Say"
        case stream = "Talk"
        case unknown = "Unknown"
    }

    /// The condition of a rule with a retry.
    enum Reason: String, CaseIterable {
        case code = "code: unavailable"
        case trailer = "trailer: {x-bad: '1'}"
        case json = "json: {/name: busy}"

        var rule: String { "{when: {\(rawValue)}, retry: {immediate: {}}}" }
    }

    private static let busy = #"{"name":"busy"}"#
    private static let good = #"{"name":"good"}"#

    private func run(
        _ rules: String,
        _ kind: Kind = .unary,
        in styles: [Style] = Style.streams,
        options: String = "",
        listener: String = "",
        upstream: String = "",
        _ script: (CallScript) throws -> Void
    ) rethrows {
        let options = "max_retries: 1, retry: {allow_non_idempotent: true}, \(options)rules: [\(rules)]"
        let types = "types: {files: [\"\(TestTypes.path)\"]}"
        try runCall(
            "{validate: {\(options)}}",
            in: styles,
            on: [.memory],
            listener: listener,
            upstream: upstream,
            more: types
        ) { call in
            call.path = "/pkg.Service/\(kind.rawValue)"
            call.ask()
            try script(call)
        }
    }

    /// Ends the response so that the condition holds.
    private func end(_ call: CallScript, _ reason: Reason) {
        switch reason {
        case .code: call.fail("unavailable", "busy", 14)
        case .trailer: call.conclude(["x-bad": "1"])
        case .json: call.conclude()
        }
    }

    private func succeed(_ call: CallScript) {
        call.askedAgain()
        call.respond()
        call.reply(Self.good)
        call.conclude()
        call.callerReceives("head", "message \(Self.good)", "end ok")
    }

    private func limitHits(_ call: CallScript) -> Int {
        let lines = call.harness.metrics("martlet_limit_hits_total").filter { $0.contains("held_response") }
        return lines.reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }

    @Test(arguments: Kind.allCases, Reason.allCases)
    func `a response of one message waits for a rule that retries the call`(_ kind: Kind, _ reason: Reason) {
        run(reason.rule, kind) { call in
            call.respond()
            call.reply(Self.busy)
            guard kind == .unary || reason == .json else {
                call.callerReceives("head", "message \(Self.busy)")
                end(call, reason)
                call.callerReceives(reason == .code ? "end unavailable busy" : "end ok…")
                return #expect(call.harness.skipped == ["delivered"])
            }
            call.callerReceives()
            end(call, reason)
            succeed(call)
            #expect(call.harness.ruleRetries == "1")
        }
    }

    @Test func `a response that no rule retries passes as it came`() {
        for rules in [Reason.code.rule, Reason.code.rule + ", {when: {json: {/name: other}}, fail: {}}"] {
            run(rules) { call in
                call.respond()
                call.reply(Self.busy)
                call.callerReceives()
                call.conclude()
                call.callerReceives("head", "message \(Self.busy)", "end ok")
                #expect(limitHits(call) == 0)
            }
        }
    }

    @Test func `the last attempt waits for nothing`() {
        run(Reason.code.rule) { call in
            call.respond()
            call.reply(Self.busy)
            end(call, .code)
            call.askedAgain()
            call.respond()
            call.reply(Self.busy)
            call.callerReceives("head", "message \(Self.busy)")
            end(call, .code)
            call.callerReceives("end unavailable busy")
            #expect(call.harness.skipped == ["attempts"])
        }
    }

    @Test func `a response that breaks off is retried where its code is asked for`() {
        run(Reason.code.rule) { call in
            call.respond()
            call.reply(Self.busy)
            call.callerReceives()
            call.upstream.send(.reset(1, .rejected))
            succeed(call)
        }
    }

    @Test(arguments: [
        ("", "limits: {held_bytes: 100B}"), ("", "timeouts: {suspension: 400ms}"), ("hold: 200ms, ", ""),
    ])
    func `a response waits for a bounded time, and only up to a bounded size`(_ options: String, _ listener: String) {
        let isSmall = listener.contains("held_bytes")
        let message = #"{"name":"\#(String(repeating: "a", count: 200))"}"#
        run(Reason.code.rule, options: options, listener: listener) { call in
            call.respond()
            call.reply(message)
            if !isSmall {
                call.harness.pass(.milliseconds(199))
                call.callerReceives()
                #expect(limitHits(call) == 0)
                call.harness.pass(.milliseconds(1))
            }
            call.callerReceives("head", "message \(message)")
            #expect(limitHits(call) == 1)
            end(call, .code)
            call.callerReceives("end unavailable busy")
            #expect(call.harness.skipped == ["delivered"])
        }
    }

    @Test func `a response that is released may be retried by another interceptor`() {
        let retry = "max_retries: 1, retry: {allow_non_idempotent: true}, "
        let outer = "{validate: {\(retry)rules: [\(Reason.json.rule)]}}"
        let inner = "{validate: {\(retry)hold: 200ms, rules: [\(Reason.code.rule)]}}"
        let types = "types: {files: [\"\(TestTypes.path)\"]}"
        runCall("\(outer), \(inner)", in: Style.streams, on: [.memory], more: types) { call in
            call.path = "/pkg.Service/Say"
            call.ask()
            call.respond()
            call.reply(Self.busy)
            call.callerReceives()
            call.harness.pass(.milliseconds(200))
            succeed(call)
        }
    }

    @Test func `a message in many pieces is held by its bytes`() {
        run(Reason.code.rule, in: [.grpc], listener: "limits: {held_events: 4}") { call in
            call.respond()
            for byte in call.style.framed(Self.busy.latin1) {
                call.upstream.send(.data(1, [byte]))
                call.harness.settle()
            }
            call.callerReceives()
            end(call, .code)
            succeed(call)
            #expect(limitHits(call) == 0)
        }
    }

    @Test func `a call that is given up, or whose time is over, holds no response`() {
        run(Reason.code.rule, in: [.grpc]) { call in
            call.respond()
            call.reply(Self.busy)
            call.callerReceives()
            call.cancel()
            call.upstreamReceives("reset CANCEL")
        }
        run(Reason.code.rule, in: [.grpc], options: "hold: 10s, ", upstream: "timeouts: {call: 300ms}") { call in
            call.respond()
            call.reply(Self.busy)
            call.callerReceives()
            call.harness.pass(.milliseconds(300))
            call.callerReceives("head", "message \(Self.busy)", "end deadline_exceeded…")
        }
    }

    @Test func `unary Connect needs no types`() {
        for kind in Kind.allCases {
            run(Reason.code.rule, kind, in: [.connectUnary]) { call in
                call.fail("unavailable", "busy", 14, status: 503)
                succeed(call)
            }
            run(Reason.trailer.rule, kind, in: [.connectUnary]) { call in
                call.respond(("trailer-x-bad", "1"))
                succeed(call)
            }
            run(Reason.json.rule, kind, in: [.connectUnary]) { call in
                call.respond()
                call.reply(Self.busy)
                call.conclude()
                succeed(call)
            }
        }
    }
}
