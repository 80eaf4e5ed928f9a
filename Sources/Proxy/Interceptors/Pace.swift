internal import Events

/// Lets bytes go on at a rate.
///
/// Pure: whoever asks says what time it is.
struct Pace {
    /// Timers are no finer; what is less adds up until it is worth one.
    private static let minPause = 10 * Nanoseconds.millisecond

    private let bytesPerSecond: Int
    /// When all that has been asked for until now has gone on.
    private var free: Nanoseconds = 0

    init(bytesPerSecond: Int) {
        self.bytesPerSecond = bytesPerSecond
    }

    /// How long so many bytes wait that come at `now`.
    mutating func wait(for bytes: Int, at now: Nanoseconds) -> Nanoseconds {
        let (seconds, rest) = bytes.quotientAndRemainder(dividingBy: bytesPerSecond)
        let part = Double(rest) / Double(bytesPerSecond) * Double(Nanoseconds.second)
        free = max(free, now) + Nanoseconds(seconds) * .second + Nanoseconds(part)
        return free - now < Self.minPause ? 0 : free - now
    }
}
