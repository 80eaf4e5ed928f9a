package import Time

/// How many rejections of a credential lead to a fetch, counted for each upstream.
///
/// A fetch that mends a call costs nothing; one that is in vain counts. So an upstream that revokes tokens early is served,
/// one that rejects every token does not have the identity provider asked for each call, and neither takes anything from
/// the others. Pure: the time comes from outside.
package struct RejectionBudget: Sendable {
    /// How many fetches in vain an upstream may cause at once.
    package static let burst = 5
    /// How long it takes until it may cause one more.
    package static let pause = 10 * Duration.second
    /// How often an upstream's count may begin again, so that one whose replicas disagree is bounded, too.
    package static let mendPause = Duration.second

    private struct Allowance {
        var fetches = TokenBucket(1, per: RejectionBudget.pause, burst: RejectionBudget.burst)
        var mends = TokenBucket(1, per: RejectionBudget.mendPause, burst: 1)
    }

    private var allowances: [String: Allowance] = [:]
    /// How many upstreams are remembered before those are looked for that no longer matter.
    private static let many = 64

    /// Makes a budget of which nothing is spent.
    package init() {}

    /// Whether a rejection by an upstream leads to a fetch, which it pays for.
    package mutating func spend(_ upstream: String, at now: Instant) -> Bool {
        if allowances.count >= Self.many, allowances[upstream] == nil { removeFull(at: now) }
        return allowances[upstream, default: Allowance()].fetches.spend(at: now)
    }

    /// An upstream has accepted the credential that was fetched since it rejected the one before.
    package mutating func mended(_ upstream: String, at now: Instant) {
        guard var allowance = allowances[upstream], allowance.mends.spend(at: now) else { return }
        allowance.fetches.fill()
        allowances[upstream] = allowance
    }

    private mutating func removeFull(at now: Instant) {
        allowances = allowances.filter {
            var fetches = $0.value.fetches
            fetches.refill(at: now)
            return !fetches.isFull
        }
    }
}
