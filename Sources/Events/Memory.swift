private import CLinux

/// The memory of the process.
public enum Memory {
    /// The bytes that have been allocated and not freed; takes microseconds.
    public static var inUse: Int { Int(martlet_malloc_in_use()) }

    /// Gives what the allocator keeps free back to the system; takes milliseconds after a great load.
    public static func trim() {
        martlet_malloc_trim()
    }

    /// Gives up what of the program and its libraries was needed for starting only, such as their relocations.
    ///
    /// What is used after all comes back from the page cache.
    public static func forgetStart() {
        martlet_drop_file_pages()
    }
}
