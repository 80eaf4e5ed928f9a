internal import Time

/// Counts the frames of one connection that cost us something and the peer next to nothing.
///
/// Each kind has a bucket: full at first, emptied by one for each frame, and filled again as time passes. A pure value.
struct HTTP2FloodGuard {
    private struct Bucket {
        var level: Double
        let burst: Double
        let perSecond: Double
        var filled = Instant.start

        init(burst: Int, perSecond: Int) {
            level = Double(burst)
            self.burst = Double(burst)
            self.perSecond = Double(perSecond)
        }

        /// Takes one out; false if there is none.
        mutating func consume(_ now: Instant) -> Bool {
            if filled > .start { level = min(burst, level + (now - filled).fractionalSeconds * perSecond) }
            filled = now
            guard level >= 1 else { return false }
            level -= 1
            return true
        }
    }

    private var resets: Bucket
    private var settings = Bucket(burst: 100, perSecond: 5)
    private var pings = Bucket(burst: 1000, perSecond: 50)
    private var emptyData = Bucket(burst: 1000, perSecond: 100)
    private var priorities = Bucket(burst: 2000, perSecond: 200)
    private var windows = Bucket(burst: 10_000, perSecond: 1000)
    private var continuations = 0

    /// The most CONTINUATION frames of one head.
    private static let maxContinuations = 8

    init(resets: Int) {
        self.resets = Bucket(burst: resets, perSecond: max(1, resets / 30))
    }

    /// Counts one frame of a kind; the limit, if that was one too many.
    mutating func count(_ limit: HTTP2Limit, now: Instant) -> HTTP2Limit? {
        let isAllowed =
            switch limit {
            case .rapidReset, .madeYouReset: resets.consume(now)
            case .settings: settings.consume(now)
            case .ping: pings.consume(now)
            case .emptyData: emptyData.consume(now)
            case .priority: priorities.consume(now)
            case .window: windows.consume(now)
            default: true
            }
        return isAllowed ? nil : limit
    }

    /// A head begins.
    mutating func headBegan() {
        continuations = 0
    }

    /// Counts a CONTINUATION frame; the limit, if that was one too many.
    mutating func headContinued() -> HTTP2Limit? {
        continuations += 1
        return continuations > Self.maxContinuations ? .continuation : nil
    }

    /// DATA of ours went out, for which the peer may open windows, and send a PING to see how fast it comes.
    mutating func sentData() {
        windows.level = min(windows.burst, windows.level + 4)
        pings.level = min(pings.burst, pings.level + 1)
    }
}
