import Testing

@testable import Telemetry

@Suite struct LineBufferTests {
    private static func line(_ number: Int, size: Int = 8) -> [UInt8] {
        Array(String(number).utf8) + Array(repeating: UInt8(ascii: " "), count: size) + [UInt8(ascii: "\n")]
    }

    private static func number(_ line: [UInt8]) -> Int? {
        Int(String(decoding: line.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self))
    }

    @Test func `lines come out in order`() {
        var buffer = LineBuffer(maxBytes: 1000)
        #expect(buffer.isEmpty)
        buffer.append([1])
        buffer.append([2])
        #expect(buffer.bytes == 2 * (1 + LineBuffer.overhead))
        #expect(buffer.removeFirst() == .line([1]))
        #expect(buffer.removeFirst() == .line([2]))
        #expect(buffer.removeFirst() == nil)
        #expect(buffer.isEmpty && buffer.bytes == 0)
    }

    @Test func `a reader gets the number of lost lines before the next line`() {
        var buffer = LineBuffer(maxBytes: 2 * (1 + LineBuffer.overhead))
        for byte in 1...5 { buffer.append([UInt8(byte)]) }
        #expect(buffer.removeFirst() == .line([1]))
        // There is room for a line, but not for the number before it.
        buffer.append([6])
        #expect(buffer.removeFirst() == .line([2]))
        buffer.append([7])
        #expect(buffer.removeFirst() == .lost(4))
        #expect(buffer.removeFirst() == .line([7]))
        #expect(buffer.removeFirst() == nil)
    }

    @Test func `a reader gets the number of lost lines if no line follows`() {
        var buffer = LineBuffer(maxBytes: LineBuffer.overhead)
        buffer.append([1])
        #expect(!buffer.isEmpty && buffer.bytes == 0)
        #expect(buffer.removeFirst() == .lost(1))
        #expect(buffer.removeFirst() == nil)
    }

    @Test func `what was lost before is added to what is lost here`() {
        var buffer = LineBuffer(maxBytes: 1000)
        buffer.append(.line([1]))
        buffer.append(.lost(2))
        buffer.append(.lost(3))
        buffer.append(.line([2]))
        #expect([buffer.removeFirst(), buffer.removeFirst()] == [.line([1]), .lost(5)])
        #expect(buffer.removeFirst() == .line([2]))
    }

    @Test(arguments: 0..<50)
    func `every line is read or counted in its place, within the bound`(seed: Int) {
        var numbers = Numbers(seed: UInt64(seed))
        let maxBytes = 200 + numbers.next(below: 2000)
        var buffer = LineBuffer(maxBytes: maxBytes)
        var appended = 0
        var expected = 0
        var received = 0
        func read() -> Bool {
            guard let item = buffer.removeFirst() else { return false }
            switch item {
            case .lost(let count):
                #expect(count > 0)
                expected += count
            case .line(let line):
                #expect(Self.number(line) == expected)
                expected += 1
                received += 1
            }
            return true
        }
        for _ in 0..<2000 {
            // Bursts, and a reader who comes and goes.
            if numbers.next(below: 3) > 0 {
                buffer.append(Self.line(appended, size: numbers.next(below: 200)))
                appended += 1
            } else {
                for _ in 0..<numbers.next(below: 6) { _ = read() }
            }
            #expect(buffer.bytes <= maxBytes)
        }
        while read() {}
        #expect(expected == appended)
        #expect(received > 0)
        #expect(buffer.isEmpty && buffer.bytes == 0)
    }
}

/// The same numbers in each run.
private struct Numbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next(below bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}
