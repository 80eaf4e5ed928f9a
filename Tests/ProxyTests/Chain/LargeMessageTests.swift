import Glibc
import HTTP2Kit
import Testing

/// Messages that are read as JSON on another thread before an interceptor gets them.
@Suite struct LargeMessageTests {
    private static let large = "\"" + String(repeating: "a", count: 200_000) + "\""

    private func run(_ options: String, in styles: [Style] = Style.streams, _ script: (CallScript) -> Void) {
        runCall("{name: a, gate: {reads: true\(options)}}", in: styles, on: [.sockets], gzip: true) { script($0) }
    }

    /// Begins a call, which has an upstream already if that gets messages one by one.
    private func begin(_ call: CallScript) {
        call.begin()
        guard call.style != .connectUnary else { return }
        call.accept()
        call.upstreamReceives("head")
    }

    /// Takes turns until the log has an event.
    private func wait(for event: String, in call: CallScript) {
        let log = call.harness.eventLog
        for _ in 0..<50_000 {
            if log.events.contains(where: { $0.hasPrefix(event) }) { return }
            usleep(100)
            call.harness.turn()
        }
        Issue.record("\(call.style): no \(event) in \(log.events)")
    }

    private func expect(_ call: CallScript, _ events: String...) {
        #expect(call.harness.eventLog.drain() == events.map { "a \($0)" }, "\(call.style)")
    }

    @Test func `what comes behind a large message does not overtake it`() {
        run("") { call in
            begin(call)
            call.say(Self.large, "2", Self.large, end: true)
            wait(for: "a request end", in: call)
            expect(
                call,
                "request head",
                "request message 1 read",
                "request message 2 2",
                "request message 3 read",
                "request end"
            )
            call.upstreamReceives("message* \"aaa…", "message* 2", "message* \"aaa…", "end")
            call.respond()
            call.reply("1", Self.large, "3")
            call.conclude()
            wait(for: "a finished", in: call)
            expect(
                call,
                "response head",
                "response message 1 1",
                "response message 2 read",
                "response message 3 3",
                "response end ok",
                "finished ok by upstream"
            )
            call.callerReceives("head", "message* 1", "message* \"aaa…", "message* 3", "end ok")
        }
    }

    @Test func `a bare message is read before its end`() {
        run("", in: [.connectUnary]) { call in
            begin(call)
            call.say(Self.large, end: true)
            wait(for: "a request end", in: call)
            expect(call, "request head", "request message 1 read", "request end")
            call.cancel()
            wait(for: "a finished", in: call)
        }
    }

    @Test func `a message is handed on while the head before it waits for that`() {
        run(", hold: [request head], open: [request message 2]", in: Style.streams) { call in
            call.begin()
            call.say(Self.large, Self.large, end: true)
            wait(for: "a request message 2 read", in: call)
            call.accept()
            call.upstreamReceives("head", "message* \"aaa…", "message* \"aaa…", "end")
        }
    }

    @Test func `a message that is held after it was read waits for its release`() {
        run(", hold: [request message 1]", in: Style.allCases) { call in
            begin(call)
            call.say(Self.large, end: true)
            wait(for: "a request message 1", in: call)
            call.harness.settle()
            #expect(call.harness.gates["a"].events == ["request message 1"])
            call.harness.gates["a"].release()
            if call.style == .connectUnary {
                call.accept()
                call.upstreamReceives("head")
            }
            call.upstreamReceives("message* \"aaa…", "end")
        }
    }

    @Test func `an interceptor that wants one event after the other gets a large one so`() {
        run(", serial: true, hold: [request message 1]") { call in
            begin(call)
            call.say("1", Self.large, "3", end: true)
            wait(for: "a request message 1", in: call)
            call.harness.settle()
            expect(call, "request head", "request message 1 1")
            call.harness.gates["a"].release()
            wait(for: "a request end", in: call)
            expect(call, "request message 2 read", "request message 3 3", "request end")
        }
    }

    @Test func `a rejection of a message that was read ends the call`() {
        run(", reject: {request message 1: out_of_range}", in: Style.allCases) { call in
            begin(call)
            call.say(Self.large, end: true)
            wait(for: "a finished out_of_range by interceptor(\"a\")", in: call)
            expect(call, "request head", "request message 1 read", "finished out_of_range by interceptor(\"a\")")
        }
    }

    @Test func `a caller that goes while its message is read ends the call`() {
        run("", in: Style.allCases) { call in
            begin(call)
            call.say(Self.large, end: true)
            call.cancel()
            wait(for: "a finished canceled by caller", in: call)
        }
    }

    /// The large message, compressed, whose last bytes are wrong.
    private static let broken = Gzip.compressed(Array(large.utf8)).dropLast(12) + [UInt8](repeating: 0, count: 12)

    @Test func `a large message that cannot be decompressed ends the call`() {
        run("", in: Style.streams) { call in
            begin(call)
            call.caller.send(.data(1, call.style.framed(Array(Self.broken), flags: 1), end: true))
            wait(for: "a finished invalid_argument", in: call)
            call.callerReceives("head", "end invalid_argument a request message cannot be decompressed")
        }
    }

    @Test func `a large message within no limit ends the call`() {
        let chain = "{name: a, gate: {}}"
        runCall(chain, in: Style.streams, on: [.sockets], listener: "limits: {held_message: 150KiB}", gzip: true) {
            call in
            begin(call)
            call.say(Self.large, end: true)
            wait(for: "a finished resource_exhausted", in: call)
            let problem = "a request message exceeds limits.held_message (153600 bytes) when decompressed"
            call.callerReceives("head", "end resource_exhausted \(problem)")
        }
    }

    @Test func `a large message that nobody reads as JSON is decompressed and keeps its place`() {
        runCall("{name: a, gate: {}}", in: Style.streams, on: [.sockets], gzip: true) { call in
            begin(call)
            call.say("1", Self.large, "3", end: true)
            wait(for: "a request end", in: call)
            let events = call.harness.eventLog.drain().map { $0.prefix(28) }
            let messages = ["a request message 1 1", "a request message 2 \"aaaaaaa", "a request message 3 3"]
            #expect(events == ["a request head"] + messages.map { $0.prefix(28) } + ["a request end"])
            call.upstreamReceives("message* 1", "message* \"aaa…", "message* 3", "end")
        }
    }

    @Test(arguments: ["", ", {name: b, gate: {sees: [response end], hold: [response end]}}"])
    func `a large message of a response that cannot be decompressed ends it with an error`(_ behind: String) {
        let chain = "{name: a, gate: {reads: true}}\(behind)"
        runCall(chain, in: Style.streams, on: [.sockets], gzip: true) { call in
            begin(call)
            call.hangUp()
            call.upstreamReceives("end")
            call.respond()
            call.reply("1")
            call.callerReceives("head", "message* 1")
            call.upstream.send(.data(1, call.style.framed(Array(Self.broken), flags: 1)))
            call.reply("3")
            call.conclude()
            if !behind.isEmpty {
                // The end of the upstream or the error, whichever comes first.
                wait(for: "b response end", in: call)
                call.harness.gates["b"].releaseAll()
            }
            wait(for: "a finished", in: call)
            call.callerReceives("end internal a response message cannot be decompressed")
            call.callerReceives()
            let ends = call.harness.eventLog.drain().filter { $0.contains("response end") }
            #expect(ends.filter { $0.hasPrefix("a") } == ["a response end internal"], "\(call.style)")
            #expect(ends.count { $0.hasPrefix("b") } == (behind.isEmpty ? 0 : 1), "\(call.style)")
        }
    }
}
