internal import Time

/// The seekers that wait for a connection of one pool: who came first is served first.
///
/// A caller that has more than half of the places does not keep others from waiting: they may wait beyond the limit until the
/// next look, which removes the last ones of that caller.
struct WaitingSeekers {
    private struct Entry {
        let seeker: any ConnectionSeeker
        /// The time at which the seeker gives up although connections can be made.
        let end: Instant
    }

    private var entries: [Entry] = []
    /// The caller that had more than half of the places at the last look, and more than one.
    private var crowd: RoomRequest.Owner?
    /// The number of seekers when the crowd was found.
    private var lastCount = 0

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

    /// Has seekers served before all others, in the order given.
    mutating func moveToFront(_ seekers: [any ConnectionSeeker]) {
        guard !seekers.isEmpty else { return }
        let places = Dictionary(seekers.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: min)
        let place = { (entry: Entry) in places[ObjectIdentifier(entry.seeker)] ?? .max }
        // The sort keeps the order of the others.
        entries.sort { place($0) < place($1) }
    }

    // MARK: Crowds

    /// The seekers whose requests have arrived whole.
    var whole: [any ConnectionSeeker] {
        entries.map(\.seeker).filter { ($0 as? Attempt)?.call.hasArrivedWhole ?? true }
    }

    /// Finds the crowd, and notes that callers could send nothing until `now`.
    mutating func look(at now: Instant) {
        for entry in entries { _ = (entry.seeker as? Attempt)?.call.stall(at: now) }
        findCrowd()
    }

    private mutating func findCrowd() {
        lastCount = entries.count
        let counts = entries.reduce(into: [:]) { $0[RoomRequest.Owner(of: $1.seeker), default: 0] += 1 }
        crowd = counts.first { $0.value > max(1, entries.count / 2) }?.key
    }

    /// Whether a seeker may wait in the place of one of the crowd.
    mutating func mayCrowdOut(_ seeker: any ConnectionSeeker) -> Bool {
        // Many may have come since the last look.
        if entries.count >= 2 * lastCount { findCrowd() }
        return crowd.map { RoomRequest.Owner(of: seeker) != $0 } ?? false
    }

    /// Removes `count` seekers: the last ones of the crowd, then the last ones.
    mutating func removeExcess(_ count: Int) -> [any ConnectionSeeker] {
        guard count > 0 else { return [] }
        let isCrowding = entries.map { RoomRequest.Owner(of: $0.seeker) == crowd }
        let weakest =
            entries.indices.filter { isCrowding[$0] }.reversed() + entries.indices.filter { !isCrowding[$0] }.reversed()
        let removed = Set(weakest.prefix(count))
        defer { entries = entries.indices.filter { !removed.contains($0) }.map { entries[$0] } }
        return removed.sorted().map { entries[$0].seeker }
    }
}
