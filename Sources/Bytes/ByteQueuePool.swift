/// Keeps queues for the next who needs one for a while; empty ones, which hold no buffer.
///
/// Their buffers are small: hundreds of calls have one each for a message that is mostly small, and large buffers would
/// lie a power of two apart, where they push each other out of the processor's caches. Belongs to one thread.
public final class ByteQueuePool {
    private let buffers: BufferPool
    private var free = FreeList<ByteQueue>(limit: 512)

    /// Makes an empty pool; `meter` counts what its queues hold.
    public init(meter: MemoryMeter = MemoryMeter()) {
        buffers = BufferPool(limit: 512, size: 1024, meter: meter)
    }

    /// An empty queue.
    public func acquire() -> ByteQueue {
        free.acquire() ?? ByteQueue(pool: buffers)
    }

    /// Takes a queue back that nobody uses any more.
    public func release(_ queue: consuming ByteQueue) {
        queue.removeAll()
        free.release(queue)
    }

    /// Forgets the queues and the buffers that nobody has needed since the last trim.
    public func trim() {
        free.trim()
        buffers.trim()
    }
}
