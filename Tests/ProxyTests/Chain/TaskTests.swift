import Glibc
import Testing
import Time

/// Suspensions that end with a task.
@Suite struct TaskTests {
    /// Whether all of these are the thread of the test, which is the worker's.
    private func areHere(_ threads: [pthread_t]) -> Bool {
        threads.allSatisfy { pthread_equal($0, pthread_self()) != 0 }
    }

    @Test func `a task runs on the worker's thread, and so does what it returns`() {
        runCall("{name: a, gate: {work: [request message, response message]}}") { call in
            let signal = call.harness.gates["a"].signal
            call.begin()
            call.say("hello", end: true)
            if call.style != .connectUnary {
                call.accept()
                call.upstreamReceives("head")
            }
            call.callerReceives()
            #expect(signal.threads.count == 1)
            signal.release()
            if call.style == .connectUnary {
                call.accept()
                call.upstreamReceives("head")
            }
            call.upstreamReceives("message <hello>", "end")
            call.respond()
            call.reply("hi")
            call.conclude()
            call.callerReceives("head", "message <hi>", "end ok")
            #expect(signal.threads.count == 4)
            #expect(areHere(signal.threads))
        }
    }

    @Test func `tasks that end in any order let their messages go in order`() {
        let chain = "{name: a, gate: {hold: [response message 2]}}, {name: b, gate: {work: [response message 1]}}"
        runCall(chain, in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.reply("1", "2", "3")
            call.conclude()
            call.callerReceives("head")
            call.harness.gates["b"].signal.release()
            call.callerReceives("message <1>")
            call.callerReceives()
            call.harness.gates["a"].release()
            call.callerReceives("message 2", "message 3", "end ok")
        }
    }

    @Test(arguments: ["request head", "request end"])
    func `a task is cancelled with its call`(_ event: String) {
        runCall("{name: a, gate: {work: [\(event)]}}") { call in
            let signal = call.harness.gates["a"].signal
            call.begin()
            call.say("hello", end: true)
            if call.style != .connectUnary, event == "request end" { call.accept() }
            call.harness.settle()
            #expect(signal.canceled == 0 && signal.threads.count == 1, "\(call.style)")
            call.cancel()
            call.harness.settle()
            #expect(signal.canceled == 1)
            #expect(signal.threads.count == 1, "what a cancelled task returns counts for nothing")
            #expect(call.harness.eventLog.drain().last == "a finished canceled by caller")
        }
    }

    @Test func `a task that takes too long is cancelled`() {
        runCall("{name: a, gate: {work: [response head]}}", listener: "timeouts: {suspension: 1s}") { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.respond()
            call.harness.pass(.milliseconds(1100))
            let text = "interceptor a exceeded timeouts.suspension"
            call.callerReceives("head", "end deadline_exceeded \(text)")
            call.harness.settle()
            #expect(call.harness.gates["a"].signal.canceled == 1)
        }
    }
}
