private import Bytes
private import Glibc

/// Where the sessions of nghttp2 of one thread live: each on five pages of its own, and with the nghttp2 that is compiled in together
/// with the buffer that it writes frames into.
///
/// A connection that waits has used the first bytes of that buffer and none of the other 16 KiB. Wherever the allocator puts
/// the two, they touch two or three pages; side by side at the start of a page they touch one.
/// Belongs to one thread; must outlive the sessions.
@safe
final class HTTP2SessionPages {
    /// How many bytes a session has.
    static let size = 20 * 1024
    /// How many of them it touches, as a rule.
    private static let touched = 4096

    /// For the sessions of callers that come and go all the time: the kernel takes 10 us to give pages and to take them back.
    private var free = unsafe FreeList<UnsafeMutableRawPointer>(limit: 256)

    deinit {
        unsafe unmap(free.removeAll())
    }

    /// How many sessions' pages are kept.
    var kept: Int { unsafe free.count }

    /// `size` bytes at the start of a page; nil if there are none: processes have a limit of mappings, beside that of memory.
    func acquire() -> UnsafeMutableRawPointer? {
        guard let start = unsafe free.acquire() ?? map() else { return nil }
        MappedMemory.add(Self.touched)
        return unsafe start
    }

    private func map() -> UnsafeMutableRawPointer? {
        let start = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return unsafe start == MAP_FAILED ? nil : start
    }

    /// Takes back what `take` has given.
    func release(_ start: UnsafeMutableRawPointer) {
        MappedMemory.add(-Self.touched)
        if unsafe !free.release(start) { unsafe unmap([start]) }
    }

    /// Gives back to the kernel what nobody has needed since the last trim.
    func trim() {
        unsafe unmap(free.trim())
    }

    private func unmap(_ starts: [UnsafeMutableRawPointer]) {
        unsafe starts.forEach { unsafe _ = munmap($0, Self.size) }
    }
}
