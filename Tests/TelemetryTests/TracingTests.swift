import Bytes
import Telemetry
import Testing
import Time

/// What stands in the headers of traces, and what waits to be exported.
@Suite struct TracingTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"

    private func parse(_ text: String) -> TraceContext? {
        let bytes = Array(text.utf8)
        return TraceContext(traceparent: bytes.span)
    }

    @Test func `a traceparent is written as it was read`() throws {
        let text = "00-\(Self.trace)-\(Self.span)-01"
        let context = try #require(parse(text))
        let queue = ByteQueue()
        context.appendTraceparent(to: queue)
        #expect(queue.readable.string == text)
        #expect(context.isSampled && context.with(span: 1).span == 1)
    }

    @Test func `no beginning of one is one, and no byte can be another`() {
        let text = Array("00-\(Self.trace)-\(Self.span)-01".utf8)
        for count in 0..<text.count {
            let part = Array(text[..<count])
            #expect(TraceContext(traceparent: part.span) == nil)
        }
        for index in text.indices {
            for byte in [UInt8(ascii: "g"), UInt8(ascii: "A"), UInt8(ascii: " "), 0] {
                var other = text
                other[index] = byte
                #expect(TraceContext(traceparent: other.span) == nil, "\(index) \(byte)")
            }
        }
    }

    @Test(arguments: [
        ("0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1", true, true),
        ("0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-d-0000000000000001", true, true),
        ("8448eb211c80319c-b7ad6b7169203331-0", false, true),
        ("8448eb211c80319c-b7ad6b7169203331", false, false),
    ])
    func `b3 in one header`(_ text: String, _ isSampled: Bool, _ isDecided: Bool) {
        let bytes = Array(text.utf8)
        guard case .span(let context, let decided)? = B3Context.read(single: bytes.span) else {
            Issue.record("not read")
            return
        }
        #expect(context.isSampled == isSampled && decided == isDecided)
    }

    @Test(arguments: [
        "", "2", "d-", "a-b", "8448eb211c80319c", "8448eb211c80319c-b7ad6b7169203331-2", "x-b7ad6b7169203331-1",
    ])
    func `b3 that is none`(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(B3Context.read(single: bytes.span) == nil)
    }

    private func record(_ number: UInt64) -> SpanRecord {
        let context = TraceContext(traceHigh: 1, traceLow: 2, span: number, isSampled: true)
        return SpanRecord(context, parent: nil, .server, name: [], start: .epoch, end: .epoch, attributes: [])
    }

    @Test func `the oldest spans make room`() {
        var queue = SpanQueue(capacity: 3)
        for number in 1...5 { queue.append(record(UInt64(number))) }
        #expect(queue.count == 3 && queue.dropped == 2)
        #expect(queue.removeFirst(2).map(\.context.span) == [3, 4])
        queue.append(record(6))
        queue.append(record(7))
        queue.append(record(8))
        #expect(queue.removeFirst(9).map(\.context.span) == [6, 7, 8])
        #expect(queue.count == 0 && queue.dropped == 3)
    }

    @Test func `any order of adding and removing keeps the order`() {
        var queue = SpanQueue(capacity: 7)
        var (model, next, dropped) = ([UInt64](), UInt64(1), 0)
        for step in 0..<2000 {
            if step * 7919 % 5 < 3 {
                queue.append(record(next))
                model.append(next)
                next += 1
                if model.count > 7 {
                    model.removeFirst()
                    dropped += 1
                }
            } else {
                let count = step % 4
                #expect(queue.removeFirst(count).map(\.context.span) == Array(model.prefix(count)))
                model.removeFirst(min(count, model.count))
            }
            #expect(queue.count == model.count && queue.dropped == dropped)
        }
        queue.limit(to: 2)
        #expect(queue.removeFirst(9).map(\.context.span) == Array(model.suffix(2)))
    }
}
