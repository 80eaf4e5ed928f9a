/// How many calls ended on which route with which code.
///
/// An open-addressing table, because a route is any number and a call should not pay for a `Dictionary`.
struct HandledCounts {
    private struct Slot {
        /// The route and the code; negative where the slot is free.
        var key: Int
        var count: Int
    }

    private var slots = [Slot](repeating: Slot(key: -1, count: 0), count: 4)
    private var used = 0

    mutating func record(_ outcome: CallOutcome) {
        let index = slot(of: Self.key(of: outcome))
        if slots[index].key >= 0 {
            slots[index].count &+= 1
        } else {
            insert(Slot(key: Self.key(of: outcome), count: 1))
        }
    }

    /// The counts by outcome; allocates, so for a snapshot only.
    var byOutcome: [CallOutcome: Int] {
        var counts: [CallOutcome: Int] = [:]
        for slot in slots where slot.key >= 0 {
            let outcome = CallOutcome(route: slot.key >> 8 - 1, code: UInt8(truncatingIfNeeded: slot.key))
            counts[outcome] = slot.count
        }
        return counts
    }

    /// No route is -1, so one more makes every key positive.
    private static func key(of outcome: CallOutcome) -> Int {
        (outcome.route + 1) << 8 | Int(outcome.code)
    }

    /// The slot that holds `key`, or the free one where it belongs.
    private func slot(of key: Int) -> Int {
        let mask = slots.count - 1
        // Codes are the low bits and mostly 0: without mixing, all routes would start at the same few slots.
        var index = (key ^ key >> 7) & mask
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
