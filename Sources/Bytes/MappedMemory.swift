private import Synchronization

/// The memory in use that the process has from the kernel itself: the allocator does not count it.
public enum MappedMemory {
    private static let count = Atomic(0)

    /// How many bytes there are, of all threads; those of a mapping that are never touched are not among them.
    public static var inUse: Int { count.load(ordering: .relaxed) }

    /// Counts bytes that are in use from now on, or with a negative number no longer; for any thread.
    public static func add(_ bytes: Int) {
        count.wrappingAdd(bytes, ordering: .relaxed)
    }
}
