import Bytes
import HTTP
import Testing

@testable import Proxy

/// Requests that keep coming back; what becomes of whole loops is in EndToEnd.
@Suite struct LoopGuardTests {
    private func marks(_ head: HTTPHead) -> Int {
        (0..<head.count).count { head.name(at: $0).equals("cdn-loop") }
    }

    @Test func `a request that is no sample is not marked before it has come back`() {
        let head = HTTPHead()
        head.add(FieldName("cdn-loop"), Array("other; a=1".utf8).span)
        for _ in 1...20 { #expect(!LoopGuard.findsLoop(in: head, isSample: false)) }
        #expect(marks(head) == 1)
    }

    @Test(arguments: [false, true])
    func `one that is marked is marked each time it comes back, and is a loop at last`(_ joins: Bool) {
        let head = HTTPHead()
        #expect(!LoopGuard.findsLoop(in: head, isSample: true))
        for returns in 1..<LoopGuard.maxReturns {
            #expect(marks(head) == (joins ? 1 : returns))
            #expect(!LoopGuard.findsLoop(in: head, isSample: false))
            if joins { join(head) }
        }
        #expect(LoopGuard.findsLoop(in: head, isSample: false))
    }

    /// As a proxy may do it: the values of several fields as a list in one.
    private func join(_ head: HTTPHead) {
        let field = FieldName("cdn-loop")
        var values: [[UInt8]] = []
        for index in 0..<head.count where head.name(at: index).equals("cdn-loop") {
            values.append(head.value(at: index).array)
        }
        head.remove(field)
        let list = Array(values.joined(separator: Array(", ".utf8)))
        head.add(field, list.span)
    }
}
