/// A first-in, first-out run of bytes: appended at the tail, read and dropped at the head, always contiguous.
///
/// An empty queue holds no memory: the buffer comes from the pool with the first byte and goes back with the last.
/// Belongs to one thread. A span of it is good until the next call that changes the queue.
@safe
public final class ByteQueue {
    private var base: UnsafeMutablePointer<UInt8>?
    /// How many bytes the queue has set aside: at least those that are in it.
    public private(set) var capacity = 0
    private var start = 0
    private var end = 0
    /// Where buffers come from; one of buffers without size if the queue keeps the one it has.
    private let pool: BufferPool

    /// Makes an empty queue that takes its buffers from `pool`; without one, from the allocator.
    public init(pool: BufferPool = BufferPool(limit: 0)) {
        self.pool = pool
    }

    /// Makes an empty queue with a buffer of `capacity` bytes that it keeps even while it is empty.
    public init(keeping capacity: Int) {
        pool = BufferPool(limit: 0, size: 0)
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        freeBuffer()
    }

    /// The number of bytes in the queue.
    public var count: Int { end - start }

    /// Whether the queue has no bytes.
    public var isEmpty: Bool { start == end }

    /// The bytes, oldest first.
    public var readable: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let bytes = unsafe UnsafeBufferPointer(start: base.map { unsafe UnsafePointer($0 + start) }, count: count)
            return unsafe _overrideLifetime(Span(_unsafeElements: bytes), borrowing: self)
        }
    }

    /// Appends a copy of `bytes`.
    public func append(_ bytes: Span<UInt8>) {
        guard bytes.count > 0 else { return }
        let tail = unsafe reserve(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe tail.update(from: source.baseAddress!, count: source.count)
        }
        end += bytes.count
    }

    /// Appends a copy of `bytes`.
    public func append(_ bytes: [UInt8]) {
        append(bytes.span)
    }

    /// Appends the UTF-8 of a literal.
    public func append(_ text: StaticString) {
        append(unsafe Span(_unsafeStart: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends four pieces at once, which costs less than one after the other.
    public func append(_ first: Span<UInt8>, _ between: StaticString, _ second: Span<UInt8>, _ last: StaticString) {
        let pieces = (first.count, between.utf8CodeUnitCount, second.count, last.utf8CodeUnitCount)
        let total = pieces.0 + pieces.1 + pieces.2 + pieces.3
        guard total > 0 else { return }
        var tail = unsafe reserve(total)
        unsafe first.withUnsafeBufferPointer { unsafe Self.copy($0.baseAddress, pieces.0, to: &tail) }
        unsafe Self.copy(between.utf8Start, pieces.1, to: &tail)
        unsafe second.withUnsafeBufferPointer { unsafe Self.copy($0.baseAddress, pieces.2, to: &tail) }
        unsafe Self.copy(last.utf8Start, pieces.3, to: &tail)
        end += total
    }

    private static func copy(_ from: UnsafePointer<UInt8>?, _ count: Int, to tail: inout UnsafeMutablePointer<UInt8>) {
        guard let from = unsafe from else { return }
        unsafe tail.update(from: from, count: count)
        unsafe tail += count
    }

    /// Appends the UTF-8 of `text`; not for the path of a call.
    public func append(text: String) {
        append(Array(text.utf8).span)
    }

    /// Appends one byte.
    public func append(byte: UInt8) {
        unsafe reserve(1).pointee = byte
        end += 1
    }

    /// Appends `value` in decimal.
    public func append(decimal value: Int) {
        // Most lengths and counts are small.
        if (0..<1000).contains(value) { return append(small: value) }
        var digits: InlineArray<20, UInt8> = .init(repeating: 0)
        var position = 20
        var rest = value.magnitude
        repeat {
            position -= 1
            digits[position] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 { append(byte: UInt8(ascii: "-")) }
        append(digits.span.extracting(position..<20))
    }

    /// Appends a value of at most three digits in decimal.
    private func append(small value: Int) {
        let zero = UInt8(ascii: "0")
        if value >= 100 { append(byte: zero + UInt8(truncatingIfNeeded: value / 100)) }
        if value >= 10 { append(byte: zero + UInt8(truncatingIfNeeded: value / 10 % 10)) }
        append(byte: zero + UInt8(truncatingIfNeeded: value % 10))
    }

    /// Appends `value` in lower-case hexadecimal without leading zeros.
    public func append(hexadecimal value: Int) {
        var shift = max(0, (Int.bitWidth - value.leadingZeroBitCount - 1) / 4 * 4)
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: value >> shift & 15)
            append(byte: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
    }

    /// Appends `value` in lower-case hexadecimal with leading zeros: 16 digits.
    public func append(paddedHexadecimal value: UInt64) {
        let (high, low) = (Self.digits(UInt32(value >> 32)), Self.digits(UInt32(truncatingIfNeeded: value)))
        var text = InlineArray<16, UInt8>(repeating: 0)
        for index in 0..<8 {
            let shift = UInt64(56 - 8 * index)
            text[index] = UInt8(truncatingIfNeeded: high >> shift)
            text[index + 8] = UInt8(truncatingIfNeeded: low >> shift)
        }
        append(text.span)
    }

    /// The eight hexadecimal digits of a number, the first one in the highest byte: all at once, as traces have them in each
    /// call.
    private static func digits(_ value: UInt32) -> UInt64 {
        var digits = UInt64(value)
        digits = (digits & 0xffff_0000) << 16 | digits & 0xffff
        digits = (digits & 0x0000_ff00_0000_ff00) << 8 | digits & 0x0000_00ff_0000_00ff
        digits = (digits & 0x00f0_00f0_00f0_00f0) << 4 | digits & 0x000f_000f_000f_000f
        // From ten on a digit is a letter.
        let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits + 0x3030_3030_3030_3030 + letters * 0x27
    }

    /// Lets `fill` write up to `room` bytes at the tail and appends as many as it says.
    ///
    /// - Precondition: `room` is positive.
    /// - Returns: what `fill` returned.
    public func append<Failure: Error>(
        room: Int,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        precondition(room > 0)
        let tail = unsafe UnsafeMutableRawBufferPointer(start: reserve(room), count: room)
        defer { if isEmpty { releaseBuffer() } }
        let written = try unsafe fill(tail)
        end += max(0, min(written, room))
        return written
    }

    /// Drops the `count` oldest bytes.
    public func drop(_ count: Int) {
        precondition(count <= self.count)
        start += count
        if isEmpty { releaseBuffer() }
    }

    /// Drops everything.
    public func removeAll() {
        releaseBuffer()
    }

    /// Makes room for `more` bytes behind the tail and returns where they go.
    private func reserve(_ more: Int) -> UnsafeMutablePointer<UInt8> {
        if end + more > capacity { makeRoom(more) }
        return unsafe base! + end
    }

    private func makeRoom(_ more: Int) {
        let needed = count + more
        guard needed > capacity || start < capacity / 2 else { return compact() }
        let (new, newCapacity) = unsafe allocate(atLeast: needed)
        if let base = unsafe base { unsafe new.update(from: base + start, count: count) }
        let kept = count
        freeBuffer()
        unsafe base = new
        capacity = newCapacity
        end = kept
    }

    private func compact() {
        unsafe base!.update(from: base! + start, count: count)
        end = count
        start = 0
    }

    private func allocate(atLeast needed: Int) -> (UnsafeMutablePointer<UInt8>, Int) {
        var size = max(256, needed + needed / 2)
        if pool.limit > 0 {
            if needed <= pool.size {
                pool.meter.add(pool.size)
                return unsafe (pool.acquire(), pool.size)
            }
            size = max(4 * pool.size, size)
            pool.meter.add(size)
        }
        return (.allocate(capacity: size), size)
    }

    /// Gives the buffer of a queue that has become empty back.
    private func releaseBuffer() {
        start = 0
        end = 0
        if pool.size > 0 { freeBuffer() }
    }

    private func freeBuffer() {
        if let base = unsafe base {
            if pool.limit > 0 { pool.meter.add(-capacity) }
            if pool.limit > 0, capacity == pool.size {
                unsafe pool.release(base)
            } else {
                unsafe base.deallocate()
            }
        }
        unsafe base = nil
        capacity = 0
        start = 0
        end = 0
    }

    /// Appends the last `digits` decimal digits of `value`, zeros included.
    public func append(padded value: Int, digits: Int) {
        var unit = 1
        for _ in 1..<digits { unit *= 10 }
        while unit > 0 {
            append(byte: UInt8(ascii: "0") + UInt8(value / unit % 10))
            unit /= 10
        }
    }
}
