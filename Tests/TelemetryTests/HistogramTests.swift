import Testing
import Time

@testable import Telemetry

@Suite struct HistogramTests {
    @Test(arguments: [HistogramBounds.standard, HistogramBounds([1]), HistogramBounds((1...32).map { $0 * 1000 })])
    func `a duration on a bound counts in the bucket of that bound`(_ bounds: HistogramBounds) {
        for (index, bound) in bounds.nanoseconds.enumerated() {
            var rows = HistogramRows(bounds: bounds)
            rows.addRow()
            rows.record(.nanoseconds(Int64(bound)), row: 0)
            rows.record(.nanoseconds(Int64(bound + 1)), row: 0)
            #expect(rows[0].buckets[index] == 1)
            #expect(rows[0].buckets[index + 1] == 1)
            #expect(rows[0].sum == 2 * bound + 1)
        }
    }

    @Test func `the standard buckets report calls of a tenth of a millisecond from those of ten seconds`() {
        let bounds = HistogramBounds.standard.nanoseconds
        #expect((bounds.first, bounds.last) == (100_000, 10_000_000_000))
        #expect(bounds.count == 16)
    }

    @Test func `rows do not count for each other`() {
        var rows = HistogramRows(bounds: HistogramBounds([10, 20]))
        for _ in 0..<3 { rows.addRow() }
        rows.record(.nanoseconds(15), row: 1)
        rows.record(.nanoseconds(99), row: 2)
        #expect((0..<3).map { rows[$0].buckets } == [[0, 0, 0], [0, 1, 0], [0, 0, 1]])
        #expect((0..<3).map { rows[$0].sum } == [0, 15, 99])
    }

    @Test func `other buckets start the histograms again, and the same ones do not`() {
        let counters = WorkerCounters()
        counters.call("s", "M", duration: .nanoseconds(700_000))
        counters.upstreamCall(counters.upstream("u"), code: 0, duration: .nanoseconds(300_000))
        counters.setBuckets(.standard)
        #expect(buckets(counters, "0.001").map(\.last) == ["1", "1"])
        counters.setBuckets(HistogramBounds([500_000, 1_000_000]))
        #expect(buckets(counters, "0.001").map(\.last) == ["0", "0"])
        #expect(buckets(counters, "0.0025").isEmpty)
        counters.call("s", "M", duration: .nanoseconds(700_000))
        counters.call("s", "N", duration: .nanoseconds(100_000))
        #expect(buckets(counters, "0.0005").map(\.last) == ["0", "1", "0"])
        #expect(buckets(counters, "0.001").map(\.last) == ["1", "1", "0"])
        #expect(counters.snapshot().lines("martlet_rpc_handled_total")[0].hasSuffix(" 2"))
    }

    @Test func `a worker that still has other buckets is left out of the sum`() {
        let (first, second) = (WorkerCounters(), WorkerCounters())
        second.setBuckets(HistogramBounds([1_000_000]))
        for counters in [first, second] {
            counters.call("s", "M")
            counters.upstreamCall(counters.upstream("u"), code: 0, duration: .nanoseconds(1))
        }
        var merged = first.snapshot()
        merged.merge(second.snapshot())
        #expect(merged.lines("martlet_rpc_duration_seconds_count").map(\.last) == ["1"])
        #expect(merged.lines("martlet_upstream_call_duration_seconds_count").map(\.last) == ["1"])
        #expect(merged.lines("martlet_rpc_handled_total").map(\.last) == ["2"])
    }

    private func span(_ id: UInt64, at time: Int64) -> ExportedSpan {
        let context = TraceContext(traceHigh: 1, traceLow: 1, span: id, isSampled: true)
        return ExportedSpan(context, end: WallTime(nanoseconds: time))
    }

    @Test func `a bucket keeps the last call that is traced`() {
        var rows = HistogramRows(bounds: HistogramBounds([10, 20]))
        for _ in 0..<2 { rows.addRow() }
        rows.record(.nanoseconds(5), row: 1, span: span(1, at: 1))
        rows.record(.nanoseconds(7), row: 1, span: span(2, at: 2))
        rows.record(.nanoseconds(8), row: 1)
        rows.record(.nanoseconds(99), row: 1, span: span(3, at: 3))
        #expect(rows[0].exemplars.isEmpty)
        #expect(
            rows[1].exemplars == [
                0: Exemplar(span: span(2, at: 2), nanoseconds: 7), 2: Exemplar(span: span(3, at: 3), nanoseconds: 99),
            ]
        )
        rows.setBounds(HistogramBounds([10, 30]))
        #expect(rows[1].exemplars.isEmpty)
    }

    @Test func `of two workers the later call is kept`() {
        var (first, second) = (HistogramRows(), HistogramRows())
        for (id, time) in [(1, 5), (2, 3)] as [(UInt64, Int64)] {
            var rows = HistogramRows()
            rows.addRow()
            rows.record(.nanoseconds(1), row: 0, span: span(id, at: time))
            if id == 1 { first = rows } else { second = rows }
        }
        for merged in [first[0].merging(second[0]), second[0].merging(first[0])] {
            #expect(merged.exemplars == [0: Exemplar(span: span(1, at: 5), nanoseconds: 1)])
        }
    }

    private func buckets(_ counters: WorkerCounters, _ bound: String) -> [String] {
        counters.snapshot().lines("martlet_").filter { $0.contains("le=\"\(bound)\"") }
    }
}
