internal import Time

/// The seekers that wait for a connection of one pool: who came first is served first.
struct WaitingSeekers {
    private struct Entry {
        let seeker: any ConnectionSeeker
        /// The time at which the seeker gives up although connections can be made.
        let end: Instant
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var all: [any ConnectionSeeker] { entries.map(\.seeker) }
    var first: (any ConnectionSeeker)? { entries.first?.seeker }

    /// The time at which the first seeker gives up, or `.max` if none does.
    var firstEnd: Instant { entries.reduce(.max) { min($0, $1.end) } }

    mutating func append(_ seeker: any ConnectionSeeker, until end: Instant) {
        entries.append(Entry(seeker: seeker, end: end))
    }

    mutating func removeFirst() -> any ConnectionSeeker { entries.removeFirst().seeker }

    /// Removes the first `count` seekers.
    mutating func removeFirst(_ count: Int) -> [any ConnectionSeeker] {
        defer { entries.removeFirst(count) }
        return entries.prefix(count).map(\.seeker)
    }

    /// Removes the last `count` seekers.
    mutating func removeLast(_ count: Int) -> [any ConnectionSeeker] {
        defer { entries.removeLast(count) }
        return entries.suffix(count).map(\.seeker)
    }

    mutating func removeAll() -> [any ConnectionSeeker] { removeFirst(count) }

    mutating func remove(_ seeker: any ConnectionSeeker) {
        entries.removeAll { $0.seeker === seeker }
    }

    /// Removes the seekers that give up at or before `now`, except the first ones, for which connections are being made.
    mutating func removeEnded(at now: Instant, exceptFirst count: Int) -> [any ConnectionSeeker] {
        let first = Array(entries.prefix(count))
        let others = entries.dropFirst(count)
        entries = first + others.filter { $0.end > now }
        return others.filter { $0.end <= now }.map(\.seeker)
    }

    /// Has seekers served before all others.
    mutating func moveToFront(_ seekers: [any ConnectionSeeker]) {
        guard !seekers.isEmpty else { return }
        let chosen = Set(seekers.map { ObjectIdentifier($0) })
        let first = entries.filter { chosen.contains(ObjectIdentifier($0.seeker)) }
        entries = first + entries.filter { !chosen.contains(ObjectIdentifier($0.seeker)) }
    }
}
