import Glibc
import Testing

/// Suspensions that end with a task.
@Suite struct TaskTests {
    /// Whether all of these are the thread of the test, which is the worker's.
    private func areHere(_ threads: [pthread_t]) -> Bool {
        threads.allSatisfy { pthread_equal($0, pthread_self()) != 0 }
    }

    @Test func `E14 a task runs on the worker's thread, and so does what it returns`() {
        converse("{name: a, gate: {work: [request message, response message]}}") { talk in
            let signal = talk.scene.gates["a"].signal
            talk.begin()
            talk.say("hello", end: true)
            if talk.style != .connectUnary {
                talk.accept()
                talk.upstreamHears("head")
            }
            talk.callerHears()
            #expect(signal.threads.count == 1)
            signal.give()
            if talk.style == .connectUnary {
                talk.accept()
                talk.upstreamHears("head")
            }
            talk.upstreamHears("message <hello>", "end")
            talk.respond()
            talk.reply("hi")
            talk.conclude()
            talk.callerHears("head", "message <hi>", "end ok")
            #expect(signal.threads.count == 4)
            #expect(areHere(signal.threads))
        }
    }

    @Test func `E4 tasks that end in any order let their messages go in order`() {
        let chain = "{name: a, gate: {hold: [response message 2]}}, {name: b, gate: {work: [response message 1]}}"
        converse(chain, in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.reply("1", "2", "3")
            talk.conclude()
            talk.callerHears("head")
            talk.scene.gates["b"].signal.give()
            talk.callerHears("message <1>")
            talk.callerHears()
            talk.scene.gates["a"].release()
            talk.callerHears("message 2", "message 3", "end ok")
        }
    }

    @Test(arguments: ["request head", "request end"])
    func `E8 a task is cancelled with its call`(_ event: String) {
        converse("{name: a, gate: {work: [\(event)]}}") { talk in
            let signal = talk.scene.gates["a"].signal
            talk.begin()
            talk.say("hello", end: true)
            if talk.style != .connectUnary, event == "request end" { talk.accept() }
            talk.scene.settle()
            #expect(signal.canceled == 0 && signal.threads.count == 1, "\(talk.style)")
            talk.cancel()
            talk.scene.settle()
            #expect(signal.canceled == 1)
            #expect(signal.threads.count == 1, "what a cancelled task returns counts for nothing")
            #expect(talk.scene.diary.take().last == "a finished canceled by caller")
        }
    }

    @Test func `E5 a task that takes too long is cancelled`() {
        converse("{name: a, gate: {work: [response head]}}", listener: "timeouts: {suspension: 1s}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            talk.accept()
            talk.respond()
            talk.scene.pass(.milliseconds(1100))
            let text = "interceptor a took longer than timeouts.suspension"
            talk.callerHears("head", "end deadline_exceeded \(text)")
            talk.scene.settle()
            #expect(talk.scene.gates["a"].signal.canceled == 1)
        }
    }
}
