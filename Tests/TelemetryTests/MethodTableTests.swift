import Bytes
import Testing

@testable import Telemetry

@Suite struct MethodTableTests {
    @Test func `methods are still found after the table has grown`() {
        var table = MethodTable(limit: 1000)
        let admitted = (0..<1000).map { admit("/pkg.Service/Method\($0)", to: &table) }
        #expect(admitted == Array(1...1000))
        for number in 0..<1000 { #expect(find("/pkg.Service/Method\(number)", in: table) == Int32(number + 1)) }
        #expect(find("/pkg.Service/Method1000", in: table) == 0)
    }

    @Test func `paths with the same hash are reported apart`() {
        var table = MethodTable(limit: 10)
        let first = admit("/s/A", to: &table, hash: 7)
        let second = admit("/s/B", to: &table, hash: 7)
        #expect(first != second)
        #expect(find("/s/A", in: table, hash: 7) == first)
        #expect(find("/s/B", in: table, hash: 7) == second)
        #expect(find("/s/C", in: table, hash: 7) == 0)
    }

    @Test func `outcomes are counted apart, however many there are`() {
        var counts = HandledCounts()
        for round in 0..<3 {
            for route in -1..<50 {
                for code in UInt8(0)...16 where Int(code) >= round {
                    counts.record(route < 0 ? .none : .number(route), code: code)
                }
            }
        }
        let byOutcome = counts.byOutcome(RouteNames())
        #expect(byOutcome.count == 51 * 17)
        #expect(byOutcome[CallOutcome(route: .none, code: 0)] == 1)
        #expect(byOutcome[CallOutcome(route: .number(49), code: 1)] == 2)
        #expect(byOutcome[CallOutcome(route: .number(0), code: 16)] == 3)
    }

    private func admit(_ path: String, to table: inout MethodTable, hash: UInt64? = nil) -> Int32 {
        let bytes = Array(path.utf8)
        return table.admit(bytes.span, hash: hash ?? bytes.span.fnv1a, service: bytes.span, method: bytes.span)
    }

    private func find(_ path: String, in table: MethodTable, hash: UInt64? = nil) -> Int32 {
        let bytes = Array(path.utf8)
        return table.find(bytes.span, hash: hash ?? bytes.span.fnv1a)
    }
}
