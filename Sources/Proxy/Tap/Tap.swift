internal import Events
package import Policy
internal import Time

/// What one reader wants to see of calls as they happen.
///
/// Shared by all workers, each of which offers it the calls that begin while it is open.
package final class Tap: Sendable {
    /// How fast events come, and what that has left out.
    private struct Pace {
        var bucket: TokenBucket
        /// Whether so much waits for the reader that no call is worth its while.
        var isStalled = false
        /// The calls that were left out since the last that was not.
        var skipped = 0
        /// How many calls wait for their outcome.
        var waiting = TokenBucket(Tap.maxWaiting, per: .second, burst: Tap.maxWaiting)
    }

    /// How many calls in a second may wait for their outcome.
    private static let maxWaiting = 2000

    let condition: Condition
    /// Whether messages are shown.
    let showsMessages: Bool
    /// The most bytes of a message that are shown.
    let maxBytes: Int
    /// How long the tap may be without further calls for what it has shown: a short call is shown whole, be the rate ever so low.
    private let maxDebt: Duration
    private let pace: Locked<Pace>

    /// Makes a tap.
    ///
    /// - Parameters:
    ///   - condition: which calls it sees; all of `when`.
    ///   - showsMessages: whether it sees their messages.
    ///   - maxBytes: the most bytes of a message that it sees.
    ///   - rate: how many events it sees; a call that is seen may borrow some.
    package init(_ condition: Condition, showsMessages: Bool, maxBytes: Int, rate: Rate) {
        self.condition = condition
        self.showsMessages = showsMessages
        self.maxBytes = maxBytes
        let bucket = TokenBucket(rate.count, per: rate.period, burst: rate.count)
        maxDebt = max(10 * .second, .nanoseconds(20 * rate.period.nanoseconds / Int64(rate.count)))
        pace = Locked(Pace(bucket: bucket))
    }

    /// The reader does not keep up, or does again: meanwhile no further calls are seen.
    ///
    /// For any thread.
    package func setStalled(_ isStalled: Bool) {
        pace.withLock { $0.isStalled = isStalled }
    }

    /// Whether a call may be seen, and how many were left out before it; none if the rate is reached, or the reader stalls.
    func admit(at now: Instant) -> Int? {
        pace.withLock { pace in
            guard !pace.isStalled, pace.bucket.spend(at: now) else {
                pace.skipped += 1
                return nil
            }
            defer { pace.skipped = 0 }
            return pace.skipped
        }
    }

    /// Whether a call may be kept until its outcome is known.
    func admitWaiting(at now: Instant) -> Bool {
        pace.withLock { pace in
            guard !pace.isStalled, pace.waiting.spend(at: now) else {
                pace.skipped += 1
                return false
            }
            return true
        }
    }

    /// Whether another event of a call that is seen may be shown.
    func hasRoom(at now: Instant) -> Bool {
        pace.withLock { pace in
            // Refills it.
            pace.bucket.lend(0, at: now)
            return !pace.isStalled && pace.bucket.wait(for: 1) < maxDebt
        }
    }

    /// One more event of a call that is seen.
    func spend(at now: Instant) {
        pace.withLock { pace in
            // A long stream does not silence the tap for long.
            if pace.bucket.wait(for: 1) < maxDebt { pace.bucket.lend(1, at: now) }
        }
    }
}
