/// Keeps buffers of one size for the next who needs one, so that idle connections hold none.
///
/// Belongs to one thread. At most `limit` free buffers are kept; the rest go back to the allocator.
@safe
public final class BufferPool {
    /// The size of the buffers of a pool for connections, in bytes.
    public static let bufferSize = 16 * 1024

    /// The size of every buffer the pool hands out, in bytes.
    let size: Int

    /// Counts what is in use, of these buffers and of larger ones of the same queues.
    let meter: MemoryMeter
    private var free: FreeList<UnsafeMutablePointer<UInt8>>
    var limit: Int { unsafe free.limit }

    /// Makes an empty pool that keeps at most `limit` free buffers of `size` bytes.
    public init(limit: Int = 256, size: Int = BufferPool.bufferSize, meter: MemoryMeter = MemoryMeter()) {
        self.meter = meter
        unsafe free = FreeList(limit: limit)
        self.size = size
    }

    deinit {
        unsafe free.removeAll().forEach { unsafe $0.deallocate() }
    }

    /// The number of free buffers.
    public var freeCount: Int { unsafe free.count }

    /// Gives the buffers that nobody has needed since the last trim back to the allocator.
    public func trim() {
        unsafe free.trim().forEach { unsafe $0.deallocate() }
    }

    func acquire() -> UnsafeMutablePointer<UInt8> {
        unsafe free.acquire() ?? .allocate(capacity: size)
    }

    func release(_ buffer: UnsafeMutablePointer<UInt8>) {
        if unsafe !free.release(buffer) { unsafe buffer.deallocate() }
    }
}
