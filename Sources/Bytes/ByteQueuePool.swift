/// Keeps queues for the next who needs one for a while; empty ones, which hold no buffer.
///
/// Belongs to one thread.
public final class ByteQueuePool {
    private let buffers: BufferPool
    private var free: [ByteQueue] = []
    private let limit = 256

    /// Makes an empty pool whose queues take their buffers from `buffers`.
    public init(buffers: BufferPool) {
        self.buffers = buffers
    }

    /// An empty queue.
    public func take() -> ByteQueue {
        free.popLast() ?? ByteQueue(pool: buffers)
    }

    /// Takes a queue back that nobody uses any more.
    public func give(_ queue: ByteQueue) {
        queue.removeAll()
        if free.count < limit { free.append(queue) }
    }
}
