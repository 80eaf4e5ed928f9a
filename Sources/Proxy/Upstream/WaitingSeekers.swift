internal import Time

/// The seekers that wait for a connection of one pool: who came first is served first.
///
/// A caller that has more than half of the places does not keep others from waiting: they may wait beyond the limit until the
/// excess is removed, first of all the last ones of that caller.
struct WaitingSeekers {
    private struct Entry {
        let seeker: any ConnectionSeeker
        /// The time at which the seeker gives up although connections can be made.
        let end: Instant
    }

    private var entries: [Entry] = []
    /// The caller that had more than half of the places when they were last counted, and more than one.
    private var majority: RoomRequest.Owner?
    /// The number of seekers when they were last counted.
    private var lastCount = 0

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var all: [any ConnectionSeeker] { entries.map(\.seeker) }

    /// Removes the seekers whose time to wait for connectivity is over at `now`.
    mutating func removeOverdue(at now: Instant) -> [any ConnectionSeeker] {
        let overdue = all.filter { $0.waitsUntil <= now }
        entries.removeAll { $0.seeker.waitsUntil <= now }
        return overdue
    }

    /// The time at which the first seeker has waited long enough for connectivity, or `.max`.
    var firstOverdue: Instant { entries.reduce(.max) { min($0, $1.seeker.waitsUntil) } }

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

    /// Has seekers served before all others, in the order given.
    mutating func moveToFront(_ seekers: [any ConnectionSeeker]) {
        guard !seekers.isEmpty else { return }
        let places = Dictionary(seekers.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: min)
        let place = { (entry: Entry) in places[ObjectIdentifier(entry.seeker)] ?? .max }
        // The sort keeps the order of the others.
        entries.sort { place($0) < place($1) }
    }

    // MARK: Callers with many places

    /// The seekers whose requests have arrived whole.
    var whole: [any ConnectionSeeker] {
        entries.map(\.seeker).filter { ($0 as? Attempt)?.call.hasArrivedWhole ?? true }
    }

    /// Notes which callers have stalled at `now`, and who has more than half of the places.
    mutating func noteStalls(at now: Instant) {
        for entry in entries { _ = (entry.seeker as? Attempt)?.call.stall(at: now) }
        findMajority()
    }

    private mutating func findMajority() {
        lastCount = entries.count
        let counts = entries.reduce(into: [:]) { $0[RoomRequest.Owner(of: $1.seeker), default: 0] += 1 }
        majority = counts.first { $0.value > max(1, entries.count / 2) }?.key
    }

    /// Whether a seeker may wait in the place of one whose caller has too many.
    mutating func mayCrowdOut(_ seeker: any ConnectionSeeker) -> Bool {
        // Many may have come since the last count.
        if entries.count >= 2 * lastCount { findMajority() }
        return majority.map { RoomRequest.Owner(of: seeker) != $0 } ?? false
    }

    /// Removes `count` seekers: the last ones of the caller with too many, then the last ones.
    mutating func removeExcess(_ count: Int) -> [any ConnectionSeeker] {
        guard count > 0 else { return [] }
        let isCrowding = entries.map { RoomRequest.Owner(of: $0.seeker) == majority }
        let weakest =
            entries.indices.filter { isCrowding[$0] }.reversed() + entries.indices.filter { !isCrowding[$0] }.reversed()
        let removed = Set(weakest.prefix(count))
        defer { entries = entries.indices.filter { !removed.contains($0) }.map { entries[$0] } }
        return removed.sorted().map { entries[$0].seeker }
    }
}
