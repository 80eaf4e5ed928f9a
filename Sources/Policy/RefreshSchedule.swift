package import Time

/// When a credential is fetched anew.
///
/// Pure: times and chance come from outside. A random number is from 0 up to, and without, 1.
package struct RefreshSchedule: Equatable, Sendable {
    /// How long before its end a credential is fetched anew, if it is good for long.
    package var ahead: Duration
    /// How many fetches have failed since one succeeded.
    package private(set) var errors = 0

    /// A credential that is good for no longer is fetched anew when four fifths of its time are over, if not earlier.
    package static let shortLifetime: Duration = 300 * .second
    /// A credential is used no more when so much of its time is left: it could end on its way.
    package static let margin: Duration = 2 * .second
    /// The shortest time between two fetches that succeed.
    package static let minPause: Duration = 100 * .millisecond
    /// What the first failed fetch is followed by; doubled by each that follows, up to `maxBackOff`.
    package static let firstBackOff: Duration = 250 * .millisecond
    /// The longest time until a fetch is retried.
    package static let maxBackOff: Duration = 30 * .second
    /// The longest `Retry-After` that is obeyed.
    package static let maxRetryAfter: Duration = 300 * .second

    /// Makes a schedule that has seen no failure.
    package init(ahead: Duration) {
        self.ahead = max(.zero, ahead)
    }

    /// How long after a fetch the next one is due.
    ///
    /// The lead, from there to the expiry, is `ahead`, but no more than half the lifetime, and no less than a fifth of a
    /// short one. Chance makes it up to a tenth longer, so that many who have fetched at once do not do so again.
    ///
    /// - Parameters:
    ///   - fetched: the wall time of the fetch.
    ///   - expiry: the wall time at which the credential ends.
    ///   - random: the random number.
    /// - Returns: the pause; nil if the credential does not end.
    package func pause(fetched: WallTime, expiry: WallTime?, random: Double) -> Duration? {
        guard let expiry else { return nil }
        let lifetime = expiry.duration(saturatingSince: fetched)
        var lead = min(ahead, lifetime / 2)
        if lifetime <= Self.shortLifetime { lead = max(lead, lifetime / 5) }
        // Nobody uses it that long before its end any more.
        lead = max(lead, min(Self.margin, lifetime / 10))
        return max(Self.minPause, lifetime - lead - lead.scaled(by: 0.1 * random))
    }

    /// Notes a fetch that has succeeded.
    package mutating func succeeded() {
        errors = 0
    }

    /// Notes a fetch that has failed, and tells how long to wait before the next.
    ///
    /// - Parameters:
    ///   - random: the random number, which half of the time depends on.
    ///   - retryAfter: what the server has asked for; a wait that is shorter is prolonged to it.
    /// - Returns: the pause.
    package mutating func failed(random: Double, retryAfter: Duration? = nil) -> Duration {
        // The seventh doubling is beyond the longest.
        let full = min(Self.maxBackOff, (1 << min(errors, 7)) * Self.firstBackOff)
        errors += 1
        let pause = full / 2 + (full / 2).scaled(by: random)
        return max(pause, min(retryAfter ?? .zero, Self.maxRetryAfter))
    }
}
