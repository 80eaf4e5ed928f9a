internal import Bytes
public import Time

/// Counts the calls of a limit, for each value of its key apart.
///
/// Pure: time comes from outside, and may stand or go back a little.
public struct LimitBuckets: Sendable {
    /// What is said to a call.
    public struct Admission: Equatable, Sendable {
        /// Whether the call may go on.
        public enum Decision: Equatable, Sendable {
            /// It may.
            case admitted
            /// As many calls are under way as may be.
            case tooMany
            /// Calls come too fast; the next may come in `wait`.
            case tooFast(wait: Duration)
        }

        /// Whether it may go on.
        public let decision: Decision
        /// What `leave` is to be told.
        public let slot: Int
        /// Whether the call had to be counted with others, because there is no room for its key.
        public let isCrowded: Bool

        /// Makes what is said to a call.
        public init(decision: Decision, slot: Int, isCrowded: Bool) {
            self.decision = decision
            self.slot = slot
            self.isCrowded = isCrowded
        }
    }

    /// A key that is longer, in bytes, is not remembered.
    public static let maxKey = 256
    /// How often all buckets are looked through for those that can go, at most.
    public static let sweepPause: Duration = 10 * .millisecond

    private struct Bucket {
        var key: [UInt8]
        var calls = 0
        /// What is left for calls; nil if there is no rate.
        var tokens: TokenBucket?
        /// Whether it waits for another key.
        var isFree = false
    }

    private let settings: LimitSettings
    /// What a new key has.
    private let fullTokens: TokenBucket?
    /// The first is shared by all calls without a key and by those whose keys have no room.
    private var buckets: [Bucket]
    private var slots: [[UInt8]: Int] = [:]
    private var free: [Int] = []
    private var nextSweep = Instant.start

    /// Makes the buckets of a limit, all full.
    public init(_ settings: LimitSettings) {
        self.settings = settings
        fullTokens = settings.rate.map { TokenBucket($0.count, per: $0.period, burst: settings.burst) }
        buckets = [Bucket(key: [], tokens: fullTokens)]
    }

    /// Lets a call in that counts for `key`, or for all if that is nil.
    public mutating func enter(_ key: Span<UInt8>?, at now: Instant) -> Admission {
        let slot = if let key { slot(of: key, at: now) } else { 0 }
        return Admission(decision: admit(slot, at: now), slot: slot, isCrowded: key != nil && slot == 0)
    }

    /// A call is over that was let in.
    public mutating func leave(_ slot: Int) {
        buckets[slot].calls -= 1
    }

    private mutating func admit(_ slot: Int, at now: Instant) -> Admission.Decision {
        if let maxCalls = settings.concurrency, buckets[slot].calls >= maxCalls { return .tooMany }
        if buckets[slot].tokens?.spend(at: now) == false {
            return .tooFast(wait: buckets[slot].tokens?.wait(for: 1) ?? .zero)
        }
        if settings.concurrency != nil { buckets[slot].calls += 1 }
        return .admitted
    }

    // MARK: Keys

    private mutating func slot(of key: Span<UInt8>, at now: Instant) -> Int {
        guard key.count <= Self.maxKey else { return 0 }
        let key = key.array
        if let known = slots[key] { return known }
        if slots.count >= settings.keys { sweep(at: now) }
        guard slots.count < settings.keys else { return 0 }
        let new = Bucket(key: key, tokens: fullTokens)
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
            buckets[slot].tokens?.refill(at: now)
            guard buckets[slot].calls == 0, buckets[slot].tokens?.isFull != false else { continue }
            slots[buckets[slot].key] = nil
            buckets[slot].key = []
            buckets[slot].isFree = true
            free.append(slot)
        }
    }
}
