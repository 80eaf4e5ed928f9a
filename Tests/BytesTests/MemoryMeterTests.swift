import Bytes
import Testing

/// What a meter counts, and when it tells of it.
@Suite struct MemoryMeterTests {
    private let meter = MemoryMeter()

    @Test func `what is added is reported in steps of 64 KiB, and what is left as soon as it is nothing`() {
        var reported: [Int] = []
        meter.changed = { reported.append($0) }
        meter.add(65_535)
        #expect(reported == [])
        meter.add(1)
        #expect(reported == [65_536])
        meter.add(100)
        meter.add(-65_000)
        #expect(reported == [65_536])
        meter.add(-636)
        #expect(reported == [65_536, -65_536])
        #expect(meter.bytes == 0)
        meter.add(10)
        meter.add(-10)
        #expect(reported == [65_536, -65_536])
    }

    @Test(arguments: [16 * 1024, 1024])
    func `a queue counts the bytes that it has set aside, and none while it is empty`(_ size: Int) {
        let queue = ByteQueue(pool: BufferPool(limit: 4, size: size, meter: meter))
        for count in [1, 100, size, 10 * size] {
            queue.append([UInt8](repeating: 0, count: count))
            #expect(queue.capacity >= queue.count)
            #expect(meter.bytes == queue.capacity)
        }
        queue.drop(queue.count - 1)
        #expect(meter.bytes == queue.capacity)
        queue.removeAll()
        #expect(meter.bytes == 0 && queue.capacity == 0)
    }

    @Test func `a queue that is given up with bytes in it counts no more`() {
        let pool = BufferPool(limit: 4, meter: meter)
        do {
            let queue = ByteQueue(pool: pool)
            queue.append(byte: 1)
            #expect(meter.bytes == queue.capacity)
        }
        #expect(meter.bytes == 0)
    }
}
