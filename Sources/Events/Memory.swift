private import CLinux

/// The memory of the process.
public enum Memory {
    /// Gives what the allocator keeps free back to the system; takes milliseconds after a great load.
    public static func trim() {
        martlet_malloc_trim()
    }
}
