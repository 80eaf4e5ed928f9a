import Bytes
import Testing

@Suite struct `A buffer pool` {
    private func address(_ queue: ByteQueue) -> UInt {
        unsafe queue.readable.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }

    /// The address of a queue's buffer after another queue's buffer came back, and that buffer's own address.
    private func addresses(_ pool: BufferPool, between: () -> Void = {}, release: (ByteQueue) -> Void) -> (UInt, UInt) {
        let one = ByteQueue(pool: pool)
        one.append("a")
        let first = address(one)
        release(one)
        between()
        // Whatever the allocator got back it gives out here, so that only the pool can know the address again.
        let block = UnsafeMutablePointer<UInt8>.allocate(capacity: BufferPool.bufferSize)
        defer { unsafe block.deallocate() }
        let other = ByteQueue(pool: pool)
        other.append("b")
        return (first, address(other))
    }

    @Test func `hands out again what an emptied queue gave back`() {
        let (first, second) = addresses(BufferPool()) { $0.drop(1) }
        #expect(first == second)
        let (third, fourth) = addresses(BufferPool()) { $0.removeAll() }
        #expect(third == fourth)
    }

    @Test func `gets the buffer of a queue whose room stayed empty`() {
        let pool = BufferPool()
        let (first, second) = addresses(pool) { queue in
            queue.drop(1)
            #expect(queue.fill([], claiming: 0) == 0)
        }
        #expect(first == second)
    }

    @Test func `gets the buffer of a queue that could not be written`() {
        let pool = BufferPool()
        let (first, second) = addresses(pool) { queue in
            queue.drop(1)
            #expect(throws: FillError.self) { try queue.failToFill() }
        }
        #expect(first == second)
    }

    @Test func `gets the buffer of a queue that outgrew it`() {
        let (first, second) = addresses(BufferPool()) { $0.append([UInt8](repeating: 0, count: BufferPool.bufferSize)) }
        #expect(first == second)
    }

    @Test func `keeps no more than its limit, and nothing that was not needed from one trim to the next`() {
        let pool = BufferPool(limit: 1)
        let queues = [ByteQueue(pool: pool), ByteQueue(pool: pool)]
        for queue in queues { queue.append(byte: 1) }
        #expect(pool.freeCount == 0)
        for queue in queues { queue.drop(1) }
        #expect(pool.freeCount == 1)
        pool.trim()
        #expect(pool.freeCount == 1)
        pool.trim()
        #expect(pool.freeCount == 0)
    }
}
