import Events
import Glibc
import Testing
import Time

/// What is kept when it is freed goes back to the system later, wherever it lies.
@Suite struct MemoryTests {
    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    private static let count = (2 << 20) / page

    /// Whether glibc is the allocator: sanitizers bring one of their own.
    private static let isGlibc = {
        let before = Memory.inUse
        let block = unsafe malloc(1 << 20)
        defer { unsafe free(block) }
        return Memory.inUse > before
    }()

    /// Two MiB of the calling thread's, used and freed.
    private static func freed() -> [UInt] {
        let blocks = unsafe (0..<count).map { _ in unsafe malloc(page)! }
        unsafe blocks.forEach { unsafe memset($0, 1, page) }
        unsafe blocks.forEach { unsafe free($0) }
        return unsafe blocks.map { UInt(bitPattern: $0) & ~UInt(page - 1) }
    }

    private static func residentCount(of pages: [UInt]) -> Int {
        pages.count { page in
            var state: UInt8 = 0
            let error = unsafe mincore(UnsafeMutableRawPointer(bitPattern: page), Self.page, &state)
            return error == 0 && state & 1 == 1
        }
    }

    @Test(.enabled(if: isGlibc)) func `a thread's memory is kept when it is freed, until it is trimmed`() {
        Memory.keepFreed()
        let counts = Locked((kept: 0, left: 0))
        let thread = WorkerThread(name: "user") {
            let pages = Self.freed()
            let kept = Self.residentCount(of: pages)
            Memory.trimThread()
            Memory.trim()
            counts.withLock { $0 = (kept, Self.residentCount(of: pages)) }
        }
        #expect(thread.join(within: 10 * .second))
        #expect(counts.withLock { $0.kept } > Self.count * 3 / 4)
        #expect(counts.withLock { $0.left } < Self.count / 4)
    }
}
