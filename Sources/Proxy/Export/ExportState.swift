internal import Time

/// What becomes of the batches that are sent (the OTLP specification, "Failures").
///
/// Pure: times and chance come from outside.
struct ExportState {
    /// How long a batch is retried.
    static let patience = 60 * Duration.second
    /// The first pause after a batch that was too large, which doubles until the receiver accepts a batch.
    static let splitPause = 20 * Duration.millisecond
    /// The longest such pause.
    static let maxSplitPause = 5 * Duration.second

    /// What to do after a response.
    enum Step: Equatable {
        /// The batch is done with; the next one can go.
        case next
        /// The batch goes again after a pause.
        case retry(Duration)
        /// The batch was too large: its halves go, the first one after a pause.
        case split(Duration)
        /// The batch was too large and has no halves: the next one can go after a pause.
        case skip(Duration)
    }

    /// How much the receiver has accepted.
    private(set) var exported = 0
    /// How much was given up.
    private(set) var failed = 0
    /// What went wrong last, for people; none if the last batch went well.
    private(set) var error: String?
    private var since: Instant?
    private var failures = 0
    /// The number of batches in a row that were too large.
    private var oversizes = 0

    /// A batch has gone well.
    ///
    /// - Parameters:
    ///   - count: what it counts for.
    ///   - rejected: how much of it the receiver has not accepted.
    ///   - text: what the receiver says about that, for people; none if it has accepted everything.
    /// - Returns: what to do.
    mutating func succeeded(_ count: Int, rejected: Int = 0, _ text: String? = nil) -> Step {
        exported += count - min(count, max(0, rejected))
        failed += min(count, max(0, rejected))
        error = text
        (since, failures, oversizes) = (nil, 0, 0)
        return .next
    }

    /// Gives a batch up that counts for `count`, since it cannot succeed later either.
    ///
    /// - Returns: what to do.
    mutating func gaveUp(_ count: Int, _ text: String) -> Step {
        error = text
        failed += count
        (since, failures) = (nil, 0)
        return .next
    }

    /// Handles a batch that is too large for the receiver.
    ///
    /// The pauses bound the requests to a receiver that rejects each part.
    private mutating func oversized(_ count: Int, isSplittable: Bool, _ text: String) -> Step {
        let pause = min((1 << min(oversizes, 10)) * Self.splitPause, Self.maxSplitPause)
        oversizes += 1
        error = text
        if isSplittable { return .split(pause) }
        _ = gaveUp(count, text)
        return .skip(pause)
    }

    /// A batch has been responded to with an error, or not at all.
    ///
    /// - Parameters:
    ///   - count: what it counts for.
    ///   - isSplittable: whether it has halves.
    ///   - status: the HTTP status; none if there was no response.
    ///   - text: what went wrong, for people.
    ///   - retryAfter: what the receiver asks for.
    ///   - now: the time.
    ///   - chance: a number from 0 up to 1.
    /// - Returns: what to do.
    mutating func failed(
        _ count: Int,
        isSplittable: Bool,
        status: Int?,
        _ text: String,
        retryAfter: Duration?,
        at now: Instant,
        chance: Double
    ) -> Step {
        if status == 413 { return oversized(count, isSplittable: isSplittable, text) }
        let began = since ?? now
        let isTransient = status.map { [429, 502, 503, 504].contains($0) } ?? true
        guard isTransient, now - began < Self.patience else { return gaveUp(count, text) }
        error = text
        since = began
        failures += 1
        let pause = min((1 << min(failures - 1, 5)) * Duration.second, 30 * Duration.second)
        return .retry(
            max(
                min(retryAfter ?? .zero, Self.patience),
                .nanoseconds(Int64(Double(pause.nanoseconds) * (0.8 + 0.4 * chance)))
            )
        )
    }
}
