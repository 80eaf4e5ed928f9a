internal import Bytes
internal import CNghttp2
private import Glibc

/// Where nghttp2's objects of one thread live.
///
/// A call costs nghttp2 a dozen of them, and many calls at once make the allocator split and join its blocks all the time.
/// Here a small block that is freed waits for the next object of its size; beyond `maxKept` bytes it goes back to the allocator.
/// Belongs to one thread; must outlive the sessions, which hold it.
@safe
final class HTTP2Memory {
    /// A block is preceded by as many bytes, which say how large it is and where it lies, and keep it aligned.
    private static let header = 16
    /// The sizes of blocks are multiples of this.
    private static let step = 32
    /// Larger blocks are not kept.
    private static let maxBlock = 1024
    /// How many bytes are kept in free blocks.
    private static let maxKept = 1024 * 1024

    /// Where a block lies.
    private enum Home: Int {
        /// In a block of the allocator.
        case allocator
        /// First on the pages of a session, which go with it.
        case first
        /// On the pages of a session, after it.
        case after
    }

    /// The first free block of each size; each has the next one in its first word.
    private let free: UnsafeMutableBufferPointer<UnsafeMutableRawPointer?>
    /// How many bytes are kept in them.
    private(set) var kept = 0
    /// The fewest that were kept at once since the last trim.
    private var unused = 0
    /// The bytes that the allocator has given in small blocks, those that are kept included.
    private var small = 0
    /// The bytes that it has given in blocks that are not kept.
    private var large = 0
    private let meter: MemoryMeter
    /// Where sessions go.
    let sessionPages = HTTP2SessionPages()
    /// What is left of the pages of the session that is being made.
    private var room = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Makes an empty store, whose `meter` counts the bytes that sessions use.
    init(meter: MemoryMeter = MemoryMeter()) {
        self.meter = meter
        unsafe free = .allocate(capacity: Self.maxBlock / Self.step + 1)
        unsafe free.initialize(repeating: nil)
    }

    deinit {
        subtract(kept)
        unsafe free.deallocate()
    }

    /// Gives as many bytes back to the allocator as nobody has needed since the last trim.
    func trim() {
        subtract(unused)
        unused = kept
        count()
        sessionPages.trim()
    }

    /// Gives that many of the bytes that are kept back, those in large blocks first.
    ///
    /// `unused` counts bytes and not blocks: a size in use may go while another that is not stays. The next trims even that
    /// out, and the most that can be wrong is a few allocations.
    private func subtract(_ bytes: Int) {
        let rest = kept - bytes
        for sizeClass in unsafe free.indices.reversed() {
            while kept > rest, let block = unsafe free[sizeClass] {
                unsafe free[sizeClass] = block.load(as: UnsafeMutableRawPointer?.self)
                unsafe Glibc.free(block - Self.header)
                kept -= sizeClass * Self.step
                small -= sizeClass * Self.step
            }
        }
    }

    /// Has the meter know how many bytes sessions use now.
    ///
    /// Called when the allocator gives a block or gets one back, and by a session that ends: blocks that go from one call to
    /// the next cost nothing. The header of a small block, and that of the allocator, are half as much as the usual block.
    func count() {
        let used = small - kept
        meter.add(used + used / 2 + large - meter.bytes)
    }

    /// Calls `make`, which makes a session, and lays what is large of it on `sessionPages`, as far as that has room.
    func together(_ make: () -> Void) {
        guard let start = unsafe sessionPages.acquire() else { return make() }
        unsafe room = UnsafeMutableRawBufferPointer(start: start, count: HTTP2SessionPages.size)
        make()
        if unsafe room.baseAddress == start { unsafe sessionPages.release(start) }
        unsafe room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// What nghttp2 allocates by.
    var functions: nghttp2_mem {
        unsafe nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { size, context in unsafe HTTP2Memory.lend(context) { unsafe $0.allocate(size) } },
            free: { block, context in
                guard let block = unsafe block else { return }
                unsafe HTTP2Memory.lend(context) { unsafe $0.release(block) }
            },
            calloc: { count, size, context in
                let (total, isTooMuch) = count.multipliedReportingOverflow(by: size)
                guard !isTooMuch, let block = unsafe HTTP2Memory.lend(context, { unsafe $0.allocate(total) }) else {
                    return nil
                }
                return unsafe memset(block, 0, total)
            },
            realloc: { block, size, context in unsafe HTTP2Memory.lend(context) { unsafe $0.move(block, size) } }
        )
    }

    /// A block of at least `size` bytes, that is not zeroed; nil if there is no memory.
    func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        let sizeClass = max(1, (size + Self.step - 1) / Self.step)
        if unsafe sizeClass < free.count, let block = unsafe free[sizeClass] {
            unsafe free[sizeClass] = block.load(as: UnsafeMutableRawPointer?.self)
            kept -= sizeClass * Self.step
            if kept < unused { unused = kept }
            return unsafe block
        }
        return unsafe allocateNew(sizeClass)
    }

    /// A block that none of those kept is: on the pages of the session that is being made, or of the allocator.
    @inline(never)
    private func allocateNew(_ sizeClass: Int) -> UnsafeMutableRawPointer? {
        let bytes = Self.header + sizeClass * Self.step
        if unsafe sizeClass >= free.count, unsafe bytes <= room.count {
            let home = unsafe room.count == HTTP2SessionPages.size ? Home.first : .after
            let start = unsafe room.baseAddress!
            unsafe room = UnsafeMutableRawBufferPointer(rebasing: room[bytes...])
            return unsafe Self.mark(start, sizeClass, home)
        }
        guard let start = unsafe malloc(bytes) else { return nil }
        add(sizeClass)
        return unsafe Self.mark(start, sizeClass, .allocator)
    }

    private static func mark(_ start: UnsafeMutableRawPointer, _ sizeClass: Int, _ home: Home)
        -> UnsafeMutableRawPointer
    {
        unsafe start.storeBytes(of: sizeClass, as: Int.self)
        unsafe start.storeBytes(of: home.rawValue, toByteOffset: MemoryLayout<Int>.size, as: Int.self)
        return unsafe start + header
    }

    /// Takes a block back.
    func release(_ block: UnsafeMutableRawPointer) {
        let sizeClass = unsafe Self.sizeClass(of: block)
        guard unsafe sizeClass < free.count, kept < Self.maxKept else { return unsafe discard(block - Self.header) }
        unsafe block.storeBytes(of: free[sizeClass], as: UnsafeMutableRawPointer?.self)
        unsafe free[sizeClass] = block
        kept += sizeClass * Self.step
    }

    @inline(never)
    private func discard(_ start: UnsafeMutableRawPointer) {
        switch unsafe Home(rawValue: start.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self)) {
        case .first: unsafe sessionPages.release(start)
        case .after: break
        case .allocator, nil:
            add(-(unsafe start.load(as: Int.self)))
            unsafe Glibc.free(start)
        }
    }

    /// Counts a block of the allocator; if `sizeClass` is negative, the block goes back to it.
    private func add(_ sizeClass: Int) {
        let bytes = sizeClass * Self.step
        if unsafe sizeClass.magnitude < free.count { small += bytes } else { large += bytes }
        count()
    }

    private func move(_ block: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        guard let new = unsafe allocate(size) else { return nil }
        guard let block = unsafe block else { return unsafe new }
        unsafe new.copyMemory(from: block, byteCount: min(size, Self.sizeClass(of: block) * Self.step))
        unsafe release(block)
        return unsafe new
    }

    private static func sizeClass(of block: UnsafeMutableRawPointer) -> Int {
        unsafe block.load(fromByteOffset: -header, as: Int.self)
    }

    @inline(__always)
    private static func lend<Result>(_ context: UnsafeMutableRawPointer?, _ body: (HTTP2Memory) -> Result) -> Result {
        unsafe Unmanaged<HTTP2Memory>.fromOpaque(context!)._withUnsafeGuaranteedRef(body)
    }
}
