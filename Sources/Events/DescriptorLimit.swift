private import CLinux

/// How many file descriptors the process may have open (RLIMIT_NOFILE).
public enum DescriptorLimit {
    /// The kernel's table has room for so many descriptors from the start, 128 KiB of memory.
    private static let reserved = 16_384

    /// The limit that counts now.
    public static var soft: Int { martlet_descriptor_limit(false) }

    /// The limit that the other can be raised to.
    public static var hard: Int { martlet_descriptor_limit(true) }

    /// Raises the limit that counts as far as the system lets it, and makes the kernel's table large enough for most.
    ///
    /// Programs that a `Subprocess` starts get the limit that this process was started with. To be called before there
    /// are other threads.
    public static func raise() {
        martlet_raise_descriptor_limit()
        martlet_reserve_descriptors(reserved)
    }
}
