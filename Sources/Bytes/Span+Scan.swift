private import Glibc

extension Span<UInt8> {
    /// The offset of the first `byte` at or after `start`, if there is one.
    public func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count else { return nil }
        return unsafe withUnsafeBytes { bytes in
            let base = bytes.baseAddress!
            guard let found = unsafe memchr(base + start, Int32(byte), bytes.count - start) else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// The offset of the first ASCII control byte, below 0x20 or 0x7f, if there is one.
    ///
    /// Eight bytes at a time: what is below 0x20 borrows into its top bit, and 0x7f is what differs from it by nothing.
    public var firstControl: Int? {
        var index = 0
        unsafe withUnsafeBytes { bytes in
            while index + 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let deletes = word ^ (Self.ones &* 0x7f)
                let found = (word &- Self.ones &* 0x20) & ~word | (deletes &- Self.ones) & ~deletes
                guard found & (Self.ones &* 0x80) == 0 else { return }
                index += 8
            }
        }
        while index < count {
            if self[index] < 0x20 || self[index] == 0x7f { return index }
            index += 1
        }
        return nil
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
}

extension Span<UInt8> {
    /// A hash of the bytes with the seed of the process, so that nobody can choose bytes that collide.
    public var seededHash: Int {
        var hasher = Hasher()
        unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
