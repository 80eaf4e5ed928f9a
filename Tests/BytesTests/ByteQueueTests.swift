import Bytes
import Testing

private func queue(_ text: StaticString) -> ByteQueue {
    let queue = ByteQueue()
    queue.append(text)
    return queue
}

@Suite struct `A byte queue` {
    @Test func `gives the bytes out in the order they came`() {
        let queue = queue("abc")
        queue.append([100, 101])
        queue.drop(2)
        queue.append(byte: 102)
        #expect(queue.readable.string == "cdef")
        #expect(queue.count == 4)
        queue.drop(4)
        #expect(queue.isEmpty)
        #expect(queue.readable.count == 0)
    }

    @Test(arguments: [true, false])
    func `keeps its bytes while it grows, moves and shrinks`(pooled: Bool) {
        let queue = ByteQueue(pool: pooled ? BufferPool() : BufferPool(limit: 0))
        var expected: [UInt8] = []
        var next: UInt8 = 0
        for round in 0..<400 {
            let added = (0..<(round * 37 % 1500)).map { _ in
                next &+= 1
                return next
            }
            queue.append(added)
            expected += added
            let dropped = min(expected.count, round % 50 == 49 ? expected.count : round * 53 % 1300)
            queue.drop(dropped)
            expected.removeFirst(dropped)
            #expect(queue.readable.array == expected)
        }
    }

    @Test func `takes more than a buffer of the pool holds`() {
        let queue = ByteQueue(pool: BufferPool())
        let bytes = [UInt8](repeating: 7, count: 3 * BufferPool.bufferSize)
        queue.append(bytes)
        queue.append(byte: 8)
        #expect(queue.readable.array == bytes + [8])
    }

    @Test func `allows nothing to be appended`() {
        let queue = ByteQueue()
        queue.append("")
        queue.append([])
        queue.append(text: "")
        queue.drop(0)
        #expect(queue.isEmpty)
    }

    @Test func `forgets everything`() {
        let queue = queue("abc")
        queue.removeAll()
        #expect(queue.isEmpty)
        queue.append("d")
        #expect(queue.readable.string == "d")
    }

    @Test func `appends what is written into its room`() {
        let queue = queue("a")
        #expect(queue.fill([98, 99], claiming: 1) == 1)
        #expect(queue.fill([], claiming: -1) == -1)
        #expect(queue.readable.string == "ab")
    }

    @Test func `passes a error to write on and stays as it was`() {
        let queue = queue("a")
        #expect(throws: FillError.self) { try queue.failToFill() }
        #expect(queue.readable.string == "a")
    }

    @Test(arguments: [(0, "0"), (7, "7"), (10, "10"), (-42, "-42"), (.max, "\(Int.max)"), (.min, "\(Int.min)")])
    func `writes decimal numbers`(value: Int, text: String) {
        let queue = ByteQueue()
        queue.append(decimal: value)
        #expect(queue.readable.string == text)
    }

    @Test(arguments: [0, 1, 9, 10, 15, 16, 255, 256, 0xdead_beef, .max])
    func `writes hexadecimal numbers`(value: Int) {
        let queue = ByteQueue()
        queue.append(hexadecimal: value)
        #expect(queue.readable.string == String(value, radix: 16))
    }
}
