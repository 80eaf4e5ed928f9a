/// What the interceptors of a chain keep for one call, each in a place of its own in one block of memory.
///
/// The block is taken when the first of them keeps something, and goes back to the chain with the call: a call whose
/// interceptors keep nothing has none, and no state costs an allocation. Belongs to the worker's thread.
@safe
struct CallStates {
    private var block: UnsafeMutableRawPointer?
    /// The links that keep something, a bit each.
    private var present: UInt64 = 0
    /// Whether the call is over, so that nothing is kept any more.
    private var isOver = false

    /// What a link keeps.
    func value<State>(at index: Int, in layout: CallStateLayout) -> State? {
        guard present & 1 << UInt64(index) != 0, let block = unsafe block else { return nil }
        return unsafe layout.place(of: index, in: block, as: State.self).pointee
    }

    /// Takes what a link keeps, which then keeps nothing.
    mutating func take<State>(at index: Int, in layout: CallStateLayout) -> State? {
        guard present & 1 << UInt64(index) != 0, let block = unsafe block else { return nil }
        present &= ~(1 << UInt64(index))
        return unsafe layout.place(of: index, in: block, as: State.self).move()
    }

    /// Keeps something for a link that keeps nothing.
    mutating func put<State>(_ state: State, at index: Int, in layout: CallStateLayout) {
        guard !isOver else { return }
        let block = unsafe block ?? layout.acquire()
        unsafe self.block = block
        present |= 1 << UInt64(index)
        unsafe layout.place(of: index, in: block, as: State.self).initialize(to: state)
    }

    /// Gives all back: the call is over.
    mutating func release(to layout: CallStateLayout) {
        isOver = true
        guard let block = unsafe block else { return }
        unsafe self.block = nil
        let kept = present
        present = 0
        unsafe layout.release(block, of: kept)
    }
}

/// Where each link of a chain keeps what it knows of a call, and the blocks of memory for the next calls.
///
/// Belongs to the worker's thread.
@safe
final class CallStateLayout {
    @safe
    private struct Place {
        let offset: Int
        let destroy: (UnsafeMutableRawPointer) -> Void
    }

    /// The most blocks that are kept for the next calls.
    private static let maxFree = 256

    private var places: [Place] = []
    private var size = 0
    private var alignment = 1
    private var free: [UnsafeMutableRawPointer] = unsafe []

    /// Lays out what these interceptors keep, in their order.
    init(_ interceptors: [any Interceptor]) {
        for interceptor in interceptors { add(interceptor) }
    }

    private func add<Link: Interceptor>(_ link: Link) {
        let layout = MemoryLayout<Link.CallState>.self
        let offset = (size + layout.alignment - 1) / layout.alignment * layout.alignment
        let destroy: (UnsafeMutableRawPointer) -> Void = { place in
            unsafe place.assumingMemoryBound(to: Link.CallState.self).deinitialize(count: 1)
        }
        unsafe places.append(Place(offset: offset, destroy: destroy))
        size = offset + layout.size
        alignment = max(alignment, layout.alignment)
    }

    deinit {
        while let block = unsafe free.popLast() { unsafe block.deallocate() }
    }

    /// The place of a link in a block.
    @unsafe
    func place<State>(
        of index: Int,
        in block: UnsafeMutableRawPointer,
        as type: State.Type
    ) -> UnsafeMutablePointer<State> {
        unsafe (block + places[index].offset).assumingMemoryBound(to: type)
    }

    /// A block in which no link keeps anything.
    @unsafe
    func acquire() -> UnsafeMutableRawPointer {
        unsafe free.popLast() ?? .allocate(byteCount: size, alignment: alignment)
    }

    /// Takes a block back, in which the links with a bit in `kept` keep something.
    @unsafe
    func release(_ block: UnsafeMutableRawPointer, of kept: UInt64) {
        var rest = kept
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
