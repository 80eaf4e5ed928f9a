private import CLlhttp

/// What the process has allocated.
enum Memory {
    /// The number of bytes, as AddressSanitizer counts them.
    static var allocated: Int { Int(fuzz_allocated()) }
}
