internal import Bytes
package import Time

/// Counts the calls of a limit, for each value of its key apart.
///
/// Pure: time comes from outside, and may stand or go back a little.
package struct LimitBuckets {
    /// What is said to a call.
    package struct Admission: Equatable {
        package enum Decision: Equatable {
            case admitted
            /// As many calls are under way as may be.
            case tooMany
            /// Calls come too fast; the next may come in `wait`.
            case tooFast(wait: Duration)
        }

        package let decision: Decision
        /// What `leave` is to be told.
        package let slot: Int
        /// Whether the call had to be counted with others, because there is no room for its key.
        package let isCrowded: Bool

        /// Makes what is said to a call.
        package init(decision: Decision, slot: Int, isCrowded: Bool) {
            self.decision = decision
            self.slot = slot
            self.isCrowded = isCrowded
        }
    }

    /// A key that is longer, in bytes, is not remembered.
    package static let maxKey = 256
    /// How often all buckets are looked through for those that can go, at most.
    package static let sweepPause: Duration = 10 * .millisecond

    private struct Bucket {
        var key: [UInt8]
        /// Whether it waits for another key.
        var isFree = false
        /// What is left for calls, in the `count`s of the rate times nanoseconds: so nothing is ever rounded.
        var level: Int64
        var filledAt = Instant.start
        var calls = 0
    }

    private let settings: LimitSettings
    private let price: Int64
    private let fullLevel: Int64
    /// The first is shared by all calls without a key and by those whose keys have no room.
    private var buckets: [Bucket]
    private var slots: [[UInt8]: Int] = [:]
    private var free: [Int] = []
    private var nextSweep = Instant.start

    /// Makes the buckets of a limit, all full.
    package init(_ settings: LimitSettings) {
        self.settings = settings
        price = settings.rate?.period.nanoseconds ?? 0
        // At most a million hours: that fits.
        fullLevel = price * Int64(settings.burst)
        buckets = [Bucket(key: [], level: fullLevel)]
    }

    /// Lets a call in that counts for `key`, or for all if that is nil.
    package mutating func enter(_ key: Span<UInt8>?, at now: Instant) -> Admission {
        let slot = if let key { slot(of: key, at: now) } else { 0 }
        return Admission(decision: admit(slot, at: now), slot: slot, isCrowded: key != nil && slot == 0)
    }

    /// A call is over that was let in.
    package mutating func leave(_ slot: Int) {
        buckets[slot].calls -= 1
    }

    private mutating func admit(_ slot: Int, at now: Instant) -> Admission.Decision {
        if let maxCalls = settings.concurrency, buckets[slot].calls >= maxCalls { return .tooMany }
        if let rate = settings.rate {
            fill(slot, at: now)
            let missing = price - buckets[slot].level
            if missing > 0 {
                return .tooFast(wait: .nanoseconds((missing + Int64(rate.count) - 1) / Int64(rate.count)))
            }
            buckets[slot].level -= price
        }
        if settings.concurrency != nil { buckets[slot].calls += 1 }
        return .admitted
    }

    /// Adds what has come in since the last time.
    private mutating func fill(_ slot: Int, at now: Instant) {
        let elapsed = now - buckets[slot].filledAt
        guard let rate = settings.rate, elapsed > .zero else { return }
        buckets[slot].filledAt = now
        let (more, isTooMuch) = elapsed.nanoseconds.multipliedReportingOverflow(by: Int64(rate.count))
        let room = fullLevel - buckets[slot].level
        buckets[slot].level += isTooMuch ? room : min(more, room)
    }

    // MARK: Keys

    private mutating func slot(of key: Span<UInt8>, at now: Instant) -> Int {
        guard key.count <= Self.maxKey else { return 0 }
        let key = key.array
        if let known = slots[key] { return known }
        if slots.count >= settings.keys { sweep(at: now) }
        guard slots.count < settings.keys else { return 0 }
        let new = Bucket(key: key, level: fullLevel, filledAt: now)
        let slot = free.popLast() ?? buckets.count
        if slot < buckets.count { buckets[slot] = new } else { buckets.append(new) }
        slots[key] = slot
        return slot
    }

    /// Forgets the keys whose buckets are as they would be if they were new.
    ///
    /// Not for every call that finds no room: whoever makes keys up would have all of them looked at each time.
    private mutating func sweep(at now: Instant) {
        guard now >= nextSweep else { return }
        nextSweep = now + Self.sweepPause
        for slot in 1..<buckets.count where !buckets[slot].isFree {
            fill(slot, at: now)
            guard buckets[slot].calls == 0, buckets[slot].level == fullLevel else { continue }
            slots[buckets[slot].key] = nil
            buckets[slot].key = []
            buckets[slot].isFree = true
            free.append(slot)
        }
    }
}
