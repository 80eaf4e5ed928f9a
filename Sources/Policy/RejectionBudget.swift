package import Time

/// How many rejections of a credential lead to a fetch, counted for each upstream.
///
/// A fetch that mends a call costs nothing; one that is in vain counts. So an upstream that revokes tokens early is served,
/// one that rejects every token does not have the identity provider asked for each call, and neither takes anything from
/// the others. Pure: the time comes from outside.
package struct RejectionBudget {
    /// How many fetches in vain an upstream may cause at once.
    package static let burst = 5
    /// How long it takes until it may cause one more.
    package static let pause = 10 * Duration.second
    /// How often an upstream's count may begin again, so that one whose replicas disagree is bounded, too.
    package static let mendPause = Duration.second

    private struct Count {
        var rejections = 0
        /// Up to when `rejections` is counted.
        var counted = Instant.start
        var mended: Instant?

        /// Whole pauses alone count: rejections that never cease do not keep the next from being believed.
        mutating func settle(at now: Instant) {
            let pauses = (now - counted) / RejectionBudget.pause
            rejections = max(0, rejections - pauses)
            counted = rejections == 0 ? now : counted + pauses * RejectionBudget.pause
        }
    }

    private var counts: [String: Count] = [:]
    /// How many upstreams are counted before those are looked for that no longer matter.
    private static let many = 64

    /// Makes a budget of which nothing is spent.
    package init() {}

    /// Whether a rejection by an upstream leads to a fetch, which it pays for.
    package mutating func spend(_ upstream: String, at now: Instant) -> Bool {
        if counts.count >= Self.many, counts[upstream] == nil { removeSettled(at: now) }
        var count = counts[upstream] ?? Count()
        count.settle(at: now)
        let isAllowed = count.rejections < Self.burst
        if isAllowed { count.rejections += 1 }
        counts[upstream] = count
        return isAllowed
    }

    /// An upstream has accepted the credential that was fetched since it rejected the one before.
    package mutating func mended(_ upstream: String, at now: Instant) {
        guard var count = counts[upstream], now - (count.mended ?? now - Self.mendPause) >= Self.mendPause else {
            return
        }
        count.rejections = 0
        count.mended = now
        counts[upstream] = count
    }

    private mutating func removeSettled(at now: Instant) {
        counts = counts.filter {
            var count = $0.value
            count.settle(at: now)
            return count.rejections > 0
        }
    }
}
