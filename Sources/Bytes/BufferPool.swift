/// Keeps buffers of one size for the next who needs one, so that idle connections hold none.
///
/// Belongs to one thread. At most `limit` free buffers are kept; the rest go back to the allocator.
@safe
public final class BufferPool {
    /// The size of the buffers of a pool for connections, in bytes.
    public static let bufferSize = 16 * 1024

    /// The size of every buffer the pool hands out, in bytes.
    let size: Int

    private var free: [UnsafeMutablePointer<UInt8>] = unsafe []
    let limit: Int

    /// Makes an empty pool that keeps at most `limit` free buffers of `size` bytes.
    public init(limit: Int = 256, size: Int = BufferPool.bufferSize) {
        self.limit = limit
        self.size = size
    }

    deinit {
        trim()
    }

    /// The number of free buffers.
    public var freeCount: Int { unsafe free.count }

    /// Gives all free buffers back to the allocator.
    public func trim() {
        while let buffer = unsafe free.popLast() { unsafe buffer.deallocate() }
    }

    func take() -> UnsafeMutablePointer<UInt8> {
        unsafe free.popLast() ?? .allocate(capacity: size)
    }

    func give(_ buffer: UnsafeMutablePointer<UInt8>) {
        let kept = unsafe free.count
        guard kept < limit else { return unsafe buffer.deallocate() }
        unsafe free.append(buffer)
    }
}
