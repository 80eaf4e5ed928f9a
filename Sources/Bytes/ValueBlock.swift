/// Values of different types in one block of memory, each in a place of its own.
///
/// The block is taken when the first value is put, and goes back to the layout in the end: values cost no allocation, and a
/// block that holds none takes no memory. Belongs to one thread.
@safe
public struct ValueBlock: ~Copyable {
    private var block: UnsafeMutableRawPointer?
    /// The places that hold a value, a bit each.
    private var present: UInt64 = 0
    private var isReleased = false

    /// Makes one that holds nothing.
    public init() {}

    /// The value in a place.
    ///
    /// - Precondition: the place is for values of this type.
    public func value<Value>(at index: Int, in layout: ValueLayout) -> Value? {
        guard present & 1 << UInt64(index) != 0, let block = unsafe block else { return nil }
        return unsafe layout.place(index, in: block, as: Value.self).pointee
    }

    /// Takes the value out of a place, which then holds none; likewise.
    public mutating func take<Value>(at index: Int, in layout: ValueLayout) -> Value? {
        guard present & 1 << UInt64(index) != 0, let block = unsafe block else { return nil }
        present &= ~(1 << UInt64(index))
        return unsafe layout.place(index, in: block, as: Value.self).move()
    }

    /// Puts a value into a place, unless the block has been released.
    ///
    /// - Precondition: the place is for values of this type, and holds none.
    public mutating func put<Value>(_ value: Value, at index: Int, in layout: ValueLayout) {
        precondition(present & 1 << UInt64(index) == 0, "the place holds a value")
        guard !isReleased else { return }
        let block = unsafe block ?? layout.acquire()
        unsafe self.block = block
        unsafe layout.place(index, in: block, as: Value.self).initialize(to: value)
        present |= 1 << UInt64(index)
    }

    /// Destroys all values and gives the block back; what is put from now on is dropped.
    ///
    /// A block that has held something must be released before it goes.
    public mutating func release(to layout: ValueLayout) {
        isReleased = true
        guard let block = unsafe block else { return }
        let held = present
        unsafe (self.block, present) = (nil, 0)
        unsafe layout.release(block, holding: held)
    }
}

/// Which values the blocks have places for, and the memory for the next ones.
///
/// Belongs to one thread.
@safe
public final class ValueLayout {
    @safe
    private struct Place {
        let type: Any.Type
        let offset: Int
        let destroy: (UnsafeMutableRawPointer) -> Void
    }

    /// The most places of a block.
    public static let maxCount = 64
    /// The most blocks that are kept for later.
    private static let maxFree = 256

    private var places: [Place] = []
    private var size = 0
    private var alignment = 1
    private var free: [UnsafeMutableRawPointer] = unsafe []

    /// Makes a layout without places.
    public init() {}

    deinit {
        while let block = unsafe free.popLast() { unsafe block.deallocate() }
    }

    /// Adds a place for a value of a type behind the others.
    ///
    /// - Precondition: no block has been taken, and there are fewer places than `maxCount`.
    public func add<Value>(_ type: Value.Type) {
        precondition(places.count < Self.maxCount, "too many values for one block")
        let layout = MemoryLayout<Value>.self
        let offset = (size + layout.alignment - 1) / layout.alignment * layout.alignment
        let destroy: (UnsafeMutableRawPointer) -> Void = { place in
            unsafe place.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
        }
        unsafe places.append(Place(type: type, offset: offset, destroy: destroy))
        size = offset + layout.size
        alignment = max(alignment, layout.alignment)
    }

    @unsafe
    fileprivate func place<Value>(
        _ index: Int,
        in block: UnsafeMutableRawPointer,
        as type: Value.Type
    ) -> UnsafeMutablePointer<Value> {
        precondition(places[index].type == type, "the place is for another type")
        return unsafe (block + places[index].offset).assumingMemoryBound(to: type)
    }

    @unsafe
    fileprivate func acquire() -> UnsafeMutableRawPointer {
        unsafe free.popLast() ?? .allocate(byteCount: size, alignment: alignment)
    }

    @unsafe
    fileprivate func release(_ block: UnsafeMutableRawPointer, holding held: UInt64) {
        var rest = held
        while rest != 0 {
            let place = places[rest.trailingZeroBitCount]
            rest &= rest - 1
            unsafe place.destroy(block + place.offset)
        }
        if unsafe free.count < Self.maxFree {
            unsafe free.append(block)
        } else {
            unsafe block.deallocate()
        }
    }
}
