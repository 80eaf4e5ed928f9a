internal import Events
public import Policy
public import Time

/// A plan of an interceptor whose calls are counted for the whole process.
public protocol Limiting {
    /// What is limited: interceptors for which it is equal share a count, also those before and after a reload. Nil if
    /// nothing is counted.
    var sharedLimit: LimitSettings? { get }
}

extension Plan {
    /// The limits that are counted for the whole process, each once, in the order of the file.
    package var sharedLimits: [LimitSettings] {
        let all = chains.flatMap(\.plan.links).compactMap { ($0.interceptor as? any Limiting)?.sharedLimit }
        return all.enumerated().filter { index, limit in !all[..<index].contains(limit) }.map(\.element)
    }
}

/// A limit as all threads see it.
public final class SharedLimit: Sendable {
    private let buckets: Locked<LimitBuckets>

    /// Makes a limit that has let nobody in.
    public init(_ settings: LimitSettings) {
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
