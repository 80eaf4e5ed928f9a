import HTTP2Kit
import Protocols
import RPC
import Testing
import Time

@testable import Proxy

/// Calls in which everything happens at random, and what holds for them all the same.
@Suite struct ChanceTests {
    private static let common = "random: true, numbers: true"
    private static let chains = [
        // All of them see everything.
        """
        {name: a, gate: {\(common)}}, {name: b, gate: {\(common), serial: true}}, {name: c, gate: {\(common)}}
        """,
        // Hooks release what others wait for.
        """
        {name: a, gate: {\(common), open: [response message 2, response end]}}, \
        {name: b, gate: {\(common), open: [request message 3, response message 3]}}, \
        {name: c, gate: {\(common), serial: true, open: [request message 2, request end, response head]}}
        """,
        // Nobody sees messages.
        """
        {name: a, gate: {\(common), sees: [request head, response head, response end]}}, \
        {name: b, gate: {\(common), sees: [request head, request end, response head]}}, \
        {name: c, gate: {\(common), sees: [request head, response head, response end]}}
        """,
    ]

    @Test(arguments: Style.allCases, chains)
    func `whatever happens to a call, each interceptor sees a sound sequence, and the caller one end`(
        _ style: Style,
        _ chain: String
    ) {
        for seed in 0..<40 {
            for listener in ["", "limits: {held_events: 1}"] {
                runCall(chain, in: [style], on: [.memory], listener: listener, gzip: seed % 2 == 1) { call in
                    var script = RandomScript(call, seed: UInt64(seed))
                    script.runProxy()
                    check(call, "\(style) \(seed) \(listener)", wasCanceled: script.wasCanceled)
                }
            }
        }
    }

    private func check(_ call: CallScript, _ index: String, wasCanceled: Bool) {
        #expect(call.harness.livingCalls == 0, "\(index)")
        // What is still to come of a request that has been answered is rejected so.
        let received = call.callerFrames.received.filter { $0 != "reset NO_ERROR" }
        let ends = received.filter { $0.hasPrefix("end ") || $0.hasPrefix("reset ") }
        #expect(ends.count == 1 || wasCanceled && ends.isEmpty, "\(index): \(received)")
        #expect(received.filter { $0 == "head" }.count <= 1, "\(index): \(received)")
        let numbers = received.compactMap { $0.hasPrefix("message") ? Int($0.split(separator: " ").last ?? "") : nil }
        #expect(numbers == Array(1..<(numbers.count + 1)), "\(index): \(received)")
        for (name, events) in Dictionary(grouping: call.harness.eventLog.drain(), by: { $0.components(" ")[0] }) {
            let words = events.map {
                $0.components(" ").dropFirst().prefix { Int($0) == nil }.prefix(2).joined(separator: " ")
            }
            #expect(isSound(words.filter { $0.hasPrefix("request") }, "request"), "\(index): \(name) \(events)")
            #expect(isSound(words.filter { $0.hasPrefix("response") }, "response"), "\(index): \(name) \(events)")
            #expect(words.filter { $0.hasPrefix("finished") }.count == 1, "\(index): \(name) \(events)")
            #expect(words.last?.hasPrefix("finished") == true, "\(index): \(name) \(events)")
        }
    }

    /// Whether the events are a head, messages and an end, as far as they go.
    private func isSound(_ events: [String], _ direction: String) -> Bool {
        guard let first = events.first else { return true }
        guard first == "\(direction) head" else { return false }
        let rest = events.dropFirst()
        return rest.allSatisfy { $0 == "\(direction) message" || $0 == "\(direction) end" }
            && !rest.dropLast().contains("\(direction) end")
    }
}

/// What the two ends of a call and the test do, at random.
private struct RandomScript {
    private let call: CallScript
    private var random: SeededGenerator
    private var said = 0
    private var replied = 0
    private var hasHungUp = false
    private var hasResponded = false
    private var isOver = false
    private(set) var wasCanceled = false

    init(_ call: CallScript, seed: UInt64) {
        self.call = call
        random = SeededGenerator(seed: seed)
        for name in ["a", "b", "c"] { call.harness.gates[name].random = SeededGenerator(seed: seed &* 31) }
    }

    mutating func runProxy() {
        call.begin(call.style.timeoutField)
        for _ in 0..<40 { step(Int.random(in: 0..<24, using: &random)) }
        // Whatever is left waiting runs into the time of the caller.
        call.harness.pass(.seconds(2))
    }

    private mutating func step(_ chance: Int) {
        if call.upstream == nil, call.harness.upstream().connects > 0 { call.accept() }
        switch chance {
        case 0...5: release(.next)
        case 6: release(.reject(RPCError(.aborted, "chance")))
        case 7: release(.respond(LocalResponse(status: 200, headers: [type], body: [])))
        case 8...10: say()
        case 11: hangUp()
        case 12...20: respond(chance)
        case 21: call.harness.settle()
        case 22: call.harness.pass(.milliseconds(10))
        default: if Int.random(in: 0..<8, using: &random) == 0 { cancel() }
        }
    }

    private var type: (name: [UInt8], value: [UInt8]) {
        (Array("content-type".utf8), Array(call.style.contentType.utf8))
    }

    private mutating func release(_ verdict: Verdict) {
        let gate = call.harness.gates[["a", "b", "c"].randomElement(using: &random)!]
        guard let index = gate.events.indices.randomElement(using: &random) else { return }
        gate.release(at: index, verdict)
        call.harness.turn()
    }

    private mutating func say() {
        guard !hasHungUp, !wasCanceled, call.style != .connectUnary || said == 0 else { return }
        said += 1
        call.say("\(said)")
    }

    private mutating func hangUp() {
        guard !hasHungUp, !wasCanceled else { return }
        hasHungUp = true
        call.hangUp()
    }

    private mutating func cancel() {
        guard !wasCanceled else { return }
        wasCanceled = true
        call.cancel()
    }

    private mutating func respond(_ chance: Int) {
        guard call.upstreamFrames?.received.first == "head", !isOver else { return }
        switch chance {
        case 12 where !hasResponded, 13 where !hasResponded, 14 where !hasResponded:
            hasResponded = true
            call.respond()
        case 15...17 where hasResponded && (call.style != .connectUnary || replied == 0):
            replied += 1
            call.reply("\(replied)")
        case 18 where hasResponded:
            isOver = true
            call.conclude()
        case 19 where hasResponded == (call.style != .connectUnary):
            isOver = true
            call.fail("unavailable", "later", 14)
        case 20 where Int.random(in: 0..<4, using: &random) == 0:
            isOver = true
            call.upstream.send(.reset(1, .internalError))
        default: break
        }
    }
}
