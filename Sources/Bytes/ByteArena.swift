/// Where some bytes lie in a `ByteArena`.
public struct ByteRange: BitwiseCopyable, Equatable, Sendable {
    /// The offset of the first byte.
    public var offset: Int32
    /// The number of bytes.
    public var count: Int32

    /// Names `count` bytes at `offset`.
    @inlinable
    public init(offset: Int, count: Int) {
        self.offset = Int32(truncatingIfNeeded: offset)
        self.count = Int32(truncatingIfNeeded: count)
    }

    /// No bytes.
    public static let empty = ByteRange(offset: 0, count: 0)

    /// Whether there are no bytes.
    public var isEmpty: Bool { count == 0 }
}

/// Bytes that are only ever added to, named by ranges that stay good until `removeAll`.
///
/// Belongs to one thread. The memory is kept by `removeAll`, so an arena that is used again does not allocate.
@safe
public final class ByteArena {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The number of bytes in the arena.
    public private(set) var count = 0

    /// Makes an empty arena with room for `capacity` bytes.
    public init(capacity: Int = 1024) {
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        unsafe base.deallocate()
    }

    /// The bytes that `range` names.
    public subscript(range: ByteRange) -> Span<UInt8> {
        @_lifetime(borrow self)
        get {
            precondition(range.offset >= 0 && range.count >= 0 && Int(range.offset) + Int(range.count) <= count)
            let bytes = unsafe UnsafeBufferPointer(start: base + Int(range.offset), count: Int(range.count))
            return unsafe _overrideLifetime(Span(_unsafeElements: bytes), borrowing: self)
        }
    }

    /// Adds a copy of `bytes`, which may lie in this arena.
    public func add(_ bytes: Span<UInt8>) -> ByteRange {
        let offset = count
        let added = bytes.count
        guard added > 0 else { return ByteRange(offset: offset, count: 0) }
        unsafe bytes.withUnsafeBufferPointer { source in
            if offset + added > capacity { return unsafe addGrowing(source.baseAddress!, added) }
            unsafe (base + offset).update(from: source.baseAddress!, count: added)
        }
        count = offset + added
        return ByteRange(offset: offset, count: added)
    }

    /// Adds copies of two runs of bytes, neither of which lies in this arena.
    public func add(_ first: Span<UInt8>, _ second: Span<UInt8>) -> (first: ByteRange, second: ByteRange) {
        let offset = count
        let total = first.count + second.count
        if offset + total > capacity { makeRoom(total) }
        unsafe first.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            unsafe (base + offset).update(from: from, count: source.count)
        }
        unsafe second.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            unsafe (base + offset + first.count).update(from: from, count: source.count)
        }
        count = offset + total
        return (
            ByteRange(offset: offset, count: first.count), ByteRange(offset: offset + first.count, count: second.count)
        )
    }

    /// Lets `fill` write up to `room` bytes and adds as many as it says.
    ///
    /// `fill` may write more than it says, within the room.
    public func add(room: Int, _ fill: (UnsafeMutableRawPointer) -> Int) -> ByteRange {
        if count + room > capacity { makeRoom(room) }
        let offset = count
        let added = unsafe fill(UnsafeMutableRawPointer(base + offset))
        precondition(added >= 0 && added <= room)
        count = offset + added
        return ByteRange(offset: offset, count: added)
    }

    /// Lends the memory of the arena: what a range names begins at its offset.
    @unsafe
    public func withMemory<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
        unsafe body(base)
    }

    private func makeRoom(_ room: Int) {
        let old = unsafe base
        grow(to: count + room)
        unsafe old.deallocate()
    }

    /// Moves to a bigger buffer; what is added may lie in the old one, so that goes last.
    private func addGrowing(_ from: UnsafePointer<UInt8>, _ added: Int) {
        let old = unsafe base
        grow(to: count + added)
        unsafe (base + count).update(from: from, count: added)
        unsafe old.deallocate()
    }

    /// Adds the UTF-8 of a literal.
    public func add(_ text: StaticString) -> ByteRange {
        add(unsafe Span(_unsafeStart: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds a copy of `bytes` with the ASCII capitals among the first `capitals` of them made small.
    public func add(_ bytes: Span<UInt8>, lowercasing capitals: Int) -> ByteRange {
        precondition(capitals <= bytes.count)
        let range = add(bytes)
        let start = unsafe UnsafeMutableRawPointer(base + Int(range.offset))
        var index = 0
        while index + 8 <= capitals {
            let word = unsafe start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            unsafe start.storeBytes(of: Self.lowercased(word), toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < capitals {
            let byte = unsafe start.load(fromByteOffset: index, as: UInt8.self)
            unsafe start.storeBytes(of: byte.lowercasedASCII, toByteOffset: index, as: UInt8.self)
            index += 1
        }
        return range
    }

    /// Eight bytes with their ASCII capitals made small: the top bit of each byte says whether it is one.
    private static func lowercased(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = word & (ones &* 0x7f)
        let fromA = low &+ (ones &* UInt64(0x80 - UInt8(ascii: "A")))
        let beyondZ = low &+ (ones &* UInt64(0x7f - UInt8(ascii: "Z")))
        let capitals = (fromA ^ beyondZ) & ~word & (ones &* 0x80)
        return word | capitals >> 2
    }

    /// Forgets all bytes and gives memory beyond `keeping` bytes back.
    public func removeAll(keeping limit: Int = 16 * 1024) {
        count = 0
        guard capacity > limit else { return }
        unsafe base.deallocate()
        unsafe base = .allocate(capacity: limit)
        capacity = limit
    }

    /// Moves to a bigger buffer and leaves the old one to the caller, whose source may still lie in it.
    private func grow(to needed: Int) {
        let newCapacity = max(needed, capacity * 2)
        let new = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        unsafe new.update(from: base, count: count)
        unsafe base = new
        capacity = newCapacity
    }
}
