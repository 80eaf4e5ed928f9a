/// Which state of its target a response is of: one that was asked for before the target was changed, or removed from the
/// cache, is not used (RFC 9111 §4.4).
///
/// A value: safe on any thread.
struct CacheStamp: Equatable, Sendable {
    fileprivate let target: UInt32
    fileprivate let purge: UInt32
}

/// Counts for each target how often it was changed.
///
/// Targets share their counts with some others, so that the counts take no more memory than these few: what was stored of
/// such another is then fetched once more. Pure; belongs to whoever holds it.
struct CacheStamps {
    private var counts = [UInt32](repeating: 0, count: 1 << 14)
    private var purges: UInt32 = 0

    private func place(of hash: Int) -> Int { hash & (counts.count - 1) }

    /// How a target is now, by the hash of its name.
    func stamp(of hash: Int) -> CacheStamp { CacheStamp(target: counts[place(of: hash)], purge: purges) }

    /// Whether a target is still as a response has it, whatever was purged since.
    func isCurrent(_ stamp: CacheStamp, of hash: Int) -> Bool { stamp.target == counts[place(of: hash)] }

    /// A target was changed.
    mutating func change(_ hash: Int) { counts[place(of: hash)] &+= 1 }

    /// Responses were removed: those that are under way are not stored.
    mutating func purge() { purges &+= 1 }
}
