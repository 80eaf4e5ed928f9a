private import CLinux

/// How many file descriptors the process may have open (RLIMIT_NOFILE).
public enum DescriptorLimit {
    /// The limit that counts now.
    public static var soft: Int { martlet_descriptor_limit(false) }

    /// The limit that the other can be raised to.
    public static var hard: Int { martlet_descriptor_limit(true) }

    /// Raises the limit that counts as far as the system lets it.
    ///
    /// Programs that a `Subprocess` starts get the limit that this process was started with. To be called before there
    /// are other threads.
    public static func raise() {
        martlet_raise_descriptor_limit()
    }
}
