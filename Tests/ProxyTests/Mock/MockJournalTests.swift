import Bytes
import RPC
import Telemetry
import Testing
import Time

@testable import Interceptors

/// What a mock remembers, and for how long.
@Suite struct MockJournalTests {
    private static func entry(_ name: String = "a") -> MockJournal.Entry {
        MockJournal.Entry(at: WallTime(secondsSince1970: 0), request: Array("{\"call\":\"\(name)\"}".utf8))
    }

    private static func message(_ text: String, at milliseconds: Int = 0) -> MockJournal.Message {
        MockJournal.Message(time: .milliseconds(milliseconds), payload: .json(Array(text.utf8)))
    }

    private static func text(_ journal: MockJournal) -> String {
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        journal.describe(to: &json)
        json.end()
        return queue.readable.string
    }

    @Test func `a call is described with its messages and its end`() {
        var journal = MockJournal(limit: 10_000)
        let number = journal.begin(Self.entry())
        journal.note(number) {
            $0.rule = "7:11"
            $0.receive(Self.message("{}", at: 1))
            $0.closed = .milliseconds(2)
            $0.send(Self.message("[1]", at: 3))
            $0.end = (.milliseconds(4), .status(.notFound, "gone"))
        }
        let text = Self.text(journal)
        let messages = #""received":[{"ms":1.000,"json":{}}],"closed_ms":2.000,"sent":[{"ms":3.000,"json":[1]}]"#
        #expect(text.contains(#""number":1,"time":"1970-01-01T00:00:00.000Z","request":{"call":"a"},"rule":"7:11""#))
        #expect(text.contains(messages))
        #expect(text.contains(#""ended_ms":4.000,"code":"not_found","message":"gone""#))
    }

    @Test func `the oldest calls make room, and what is told about them later is nobody's`() {
        var journal = MockJournal(limit: 2000)
        for number in 1...100 { #expect(journal.begin(Self.entry("call \(number)")) == number) }
        #expect(journal.count == 100 && journal.bytes <= 2000 && journal.bytes > 1000)
        let before = journal.bytes
        journal.note(1) { $0.receive(Self.message("lost")) }
        #expect(journal.bytes == before)
        journal.note(100) { $0.receive(Self.message("kept")) }
        let text = Self.text(journal)
        #expect(text.contains("call 100") && text.contains("kept"))
        #expect(!text.contains("lost") && !text.contains("call 50"))
        #expect(journal.bytes <= 2000)
    }

    @Test func `a call that grows pushes out those before it, and then itself`() {
        var journal = MockJournal(limit: 4000)
        for _ in 1...3 { _ = journal.begin(Self.entry()) }
        for _ in 0..<100 { journal.note(3) { $0.receive(Self.message("0123456789")) } }
        #expect(journal.bytes <= 4000 && Self.text(journal).contains("\"removed\":3,\"calls\":[]"))
        #expect(journal.begin(Self.entry("next")) == 4)
        #expect(Self.text(journal).contains("\"number\":4"))
    }

    @Test func `without room nothing is kept, and calls are counted`() {
        var journal = MockJournal(limit: 0)
        for _ in 1...1000 { _ = journal.begin(Self.entry()) }
        #expect(journal.count == 1000 && journal.bytes == 0 && journal.openCount == 0)
        journal.removeAll()
        #expect(journal.count == 1000)
    }

    @Test func `states are kept by keys, the newest of them`() {
        var states = MockStates(limit: 3)
        for key: UInt8 in 0..<100 {
            #expect(states[[key]] == "start")
            states[[key]] = "s\(key)"
        }
        #expect((0..<100).filter { states[[$0]] != "start" } == [97, 98, 99])
        states[[98]] = "other"
        states[[1]] = "again"
        #expect([1, 97, 98, 99].map { states[[$0]] } == ["again", "start", "other", "s99"])
    }
}
