internal import Events
public import Policy
public import Time

/// The limits that are kept for the whole process: shared by its workers, and kept through reloads.
///
/// A limit is there as long as some generation of some worker has it.
public final class LimitStore: Sendable {
    private struct Entry {
        weak var limit: SharedLimit?
    }

    private let limits = Locked<[LimitSettings: Entry]>([:])

    /// Makes an empty store.
    public init() {}

    /// The one limit that has these settings.
    public func limit(_ settings: LimitSettings) -> SharedLimit {
        limits.withLock { limits in
            if let known = limits[settings]?.limit { return known }
            limits = limits.filter { $0.value.limit != nil }
            let new = SharedLimit(settings)
            limits[settings] = Entry(limit: new)
            return new
        }
    }
}

/// A limit as all threads see it.
public final class SharedLimit: Sendable {
    private let buckets: Locked<LimitBuckets>

    init(_ settings: LimitSettings) {
        buckets = Locked(LimitBuckets(settings))
    }

    /// Lets a call in, or says why not.
    ///
    /// - Parameters:
    ///   - key: for whom the call counts; nil where all count together.
    ///   - now: the time of the worker's loop. Those of two workers may differ by a turn.
    /// - Returns: the decision, and what is to be given back.
    public func enter(_ key: Span<UInt8>?, at now: Instant) -> LimitBuckets.Admission {
        buckets.withLock { $0.enter(key, at: now) }
    }

    /// A call that was let in is over.
    public func leave(_ slot: Int) {
        buckets.withLock { $0.leave(slot) }
    }
}
