package import Time

/// Lets bytes go on at a rate.
///
/// Pure: whoever asks says what time it is.
package struct Pace {
    /// Timers are no finer; what is less adds up until it is worth one.
    private static let minPause = 10 * Duration.millisecond

    private let bytesPerSecond: Int
    /// When all that has been asked for until now has gone on.
    private var free = Instant.start

    /// Makes a pace at which nothing waits yet.
    package init(bytesPerSecond: Int) {
        self.bytesPerSecond = bytesPerSecond
    }

    /// How long so many bytes wait that come at `now`.
    package mutating func wait(for bytes: Int, at now: Instant) -> Duration {
        let (seconds, rest) = bytes.quotientAndRemainder(dividingBy: bytesPerSecond)
        let part = Duration.second.scaled(by: Double(rest) / Double(bytesPerSecond))
        free = max(free, now) + seconds * .second + part
        return free - now < Self.minPause ? .zero : free - now
    }
}
