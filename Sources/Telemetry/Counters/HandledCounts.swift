/// How many calls ended on which route with which code.
///
/// An open-addressing table, because a route is any integer and a call should not pay for a `Dictionary`.
struct HandledCounts {
    private struct Slot {
        /// The route's id and the code; negative where the slot is free.
        var key: Int
        var count: Int
    }

    private var slots = [Slot](repeating: Slot(key: -1, count: 0), count: 4)
    private var used = 0

    mutating func record(_ route: RouteCounter, code: UInt8) {
        let key = route.id << 8 | Int(code)
        let index = slot(of: key)
        if slots[index].key >= 0 {
            slots[index].count &+= 1
        } else {
            insert(Slot(key: key, count: 1))
        }
    }

    /// The counts by outcome, with routes as `names` calls them; allocates, so for a snapshot only.
    func byOutcome(_ names: RouteNames) -> [CallOutcome: Int] {
        var counts: [CallOutcome: Int] = [:]
        for slot in slots where slot.key >= 0 {
            let route = names.label(of: RouteCounter(id: slot.key >> 8))
            counts[CallOutcome(route: route, code: UInt8(truncatingIfNeeded: slot.key))] = slot.count
        }
        return counts
    }

    /// The slot that holds `key`, or the free one where it belongs.
    private func slot(of key: Int) -> Int {
        let mask = slots.count - 1
        // Codes are the low bits and mostly 0: without mixing, all routes would start at the same few slots. The lowest
        // bit of a route's id is the same for most routes of a file.
        var index = (key ^ key >> 9) & mask
        while slots[index].key >= 0, slots[index].key != key { index = (index + 1) & mask }
        return index
    }

    private mutating func insert(_ new: Slot) {
        if (used + 1) * 4 > slots.count * 3 { grow() }
        slots[slot(of: new.key)] = new
        used += 1
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(key: -1, count: 0), count: old.count * 2)
        for kept in old where kept.key >= 0 { slots[slot(of: kept.key)] = kept }
    }
}
