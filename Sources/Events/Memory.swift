private import Bytes
private import CLinux

/// The memory of the process.
public enum Memory {
    /// The bytes that have been allocated and not freed, and those in use that are mapped; takes microseconds.
    public static var inUse: Int { Int(martlet_malloc_in_use()) + MappedMemory.inUse }

    /// Has the allocator of the process keep what is freed for what is needed next, until it is trimmed: up to 4 MiB at the
    /// end of each thread's memory, and 8 MiB in one block.
    ///
    /// By itself glibc gives back from 128 KiB on, and has the system make each page anew a moment later: queues for a
    /// caller that reads slowly come and go by the MiB. To be called before there are other threads.
    public static func keepFreed() {
        martlet_malloc_keep()
    }

    /// Gives what the allocator keeps free back to the system.
    ///
    /// Takes some 70 ms for each GiB that goes, and threads that allocate wait meanwhile.
    /// What lies free at the end of a thread's memory only that thread can give back, by `trimThread`.
    public static func trim() {
        martlet_malloc_trim()
    }

    /// Gives back what lies free at the end of the memory that the calling thread allocates from, but for 128 KiB.
    ///
    /// Takes microseconds. Of use only after `keepFreed`.
    public static func trimThread() {
        martlet_malloc_trim_thread()
    }

    /// Gives up what was needed for starting only: freed memory, and of the program and its libraries what is not written to,
    /// such as relocations.
    ///
    /// What is used after all comes back from the page cache.
    public static func resetPeak() {
        martlet_malloc_trim()
        martlet_drop_file_pages()
    }
}
