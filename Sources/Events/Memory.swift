private import CLinux

/// The memory of the process.
public enum Memory {
    /// The bytes that have been allocated and not freed; takes microseconds.
    public static var inUse: Int { Int(martlet_malloc_in_use()) }

    /// Has the allocator keep what is freed for what is needed next, up to `bytes` in one piece, until it is trimmed.
    public static func keepFreed(upTo bytes: Int) {
        martlet_malloc_keep(Int32(clamping: bytes))
    }

    /// Gives what the allocator keeps free back to the system; takes milliseconds after a great load.
    ///
    /// What lies free at the end of a thread's memory only that thread can give back, by `trimThread`.
    public static func trim() {
        martlet_malloc_trim()
    }

    /// Gives back what lies free at the end of the memory that the calling thread allocates from; takes microseconds.
    public static func trimThread() {
        martlet_malloc_trim_thread()
    }

    /// Gives up what was needed for starting only: freed memory, and of the program and its libraries what is not written to,
    /// such as relocations.
    ///
    /// What is used after all comes back from the page cache.
    public static func forgetStart() {
        martlet_malloc_trim()
        martlet_drop_file_pages()
    }
}
