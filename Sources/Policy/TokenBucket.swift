package import Time

/// A bucket of tokens: each use spends one, and time refills them at a rate, up to a burst.
///
/// All arithmetic is on integers, so no part of a token is rounded, however often the bucket is asked. Pure: time comes
/// from outside. If it stands or goes back, it adds nothing, and counts again only when it is past the latest time.
package struct TokenBucket: Equatable, Sendable {
    /// What is left.
    ///
    /// One token is `period`, and each nanosecond adds `count`. It is below zero after a loan.
    private var level: Int64
    private var refilledAt: Instant
    private let count: Int64
    private let period: Duration
    private let full: Int64

    /// Makes a full bucket.
    ///
    /// - Parameters:
    ///   - count: how many tokens come in a period; at least 1.
    ///   - period: the time in which they come, evenly spread; more than none.
    ///   - burst: how many tokens the bucket holds.
    package init(_ count: Int, per period: Duration, burst: Int) {
        precondition(count > 0 && period > .zero && burst >= 0, "a bucket that never refills")
        self.count = Int64(count)
        self.period = period
        full = period.multiplied(saturating: Int64(burst)).nanoseconds
        level = full
        refilledAt = .start
    }

    /// Whether the bucket holds its burst, as it did at the last time that it was refilled.
    package var isFull: Bool { level == full }

    /// Spends a token; false if there is none.
    package mutating func spend(at now: Instant) -> Bool {
        refill(at: now)
        guard level >= period.nanoseconds else { return false }
        level -= period.nanoseconds
        return true
    }

    /// Spends tokens whether or not there are so many; time pays a loan back before it refills the bucket.
    package mutating func lend(_ tokens: Int, at now: Instant) {
        refill(at: now)
        let (rest, isTooMuch) = level.subtractingReportingOverflow(cost(of: tokens))
        // So that what is missing always has a number.
        level = max(isTooMuch ? .min : rest, full - .max)
    }

    /// How long it takes until there are so many tokens, counted from the latest time; rounded up to a nanosecond.
    package func wait(for tokens: Int) -> Duration {
        let (missing, isTooMuch) = cost(of: tokens).subtractingReportingOverflow(level)
        guard !isTooMuch else { return .max }
        guard missing > 0 else { return .zero }
        let (quotient, remainder) = missing.quotientAndRemainder(dividingBy: count)
        return .nanoseconds(remainder == 0 ? quotient : quotient + 1)
    }

    /// Adds what has come in since the latest time.
    package mutating func refill(at now: Instant) {
        guard now > refilledAt else { return }
        let (more, isTooMuch) = (now - refilledAt).nanoseconds.multipliedReportingOverflow(by: count)
        refilledAt = now
        let room = full - level
        level += isTooMuch ? room : min(more, room)
    }

    /// Adds tokens, as many as there is room for.
    package mutating func add(_ tokens: Int) {
        guard !isFull else { return }
        level += min(cost(of: tokens), full - level)
    }

    /// Fills the bucket.
    package mutating func fill() {
        level = full
    }

    private func cost(of tokens: Int) -> Int64 {
        period.multiplied(saturating: Int64(tokens)).nanoseconds
    }
}
