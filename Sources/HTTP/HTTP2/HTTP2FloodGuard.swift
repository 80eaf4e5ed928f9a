internal import Policy
internal import Time

/// Counts the frames of one connection that cost us something and the peer next to nothing.
///
/// Each kind has a bucket: full at first, emptied by one for each frame, and filled again as time passes. A pure value.
struct HTTP2FloodGuard {
    private var resets: TokenBucket
    private var settings = TokenBucket(5, per: .second, burst: 100)
    private var pings = TokenBucket(50, per: .second, burst: 1000)
    private var emptyData = TokenBucket(100, per: .second, burst: 1000)
    private var priorities = TokenBucket(200, per: .second, burst: 2000)
    private var windows = TokenBucket(1000, per: .second, burst: 10_000)
    private var continuations = 0
    /// The maximum number of CONTINUATION frames of one head.
    private let maxContinuations: Int

    init(resets: Int, continuations: Int) {
        maxContinuations = continuations
        self.resets = TokenBucket(max(1, resets / 30), per: .second, burst: resets)
    }

    /// Counts one frame of a kind; the limit, if that was one too many.
    mutating func count(_ limit: HTTP2Limit, now: Instant) -> HTTP2Limit? {
        let isAllowed =
            switch limit {
            case .rapidReset, .madeYouReset: resets.spend(at: now)
            case .settings: settings.spend(at: now)
            case .ping: pings.spend(at: now)
            case .emptyData: emptyData.spend(at: now)
            case .priority: priorities.spend(at: now)
            case .window: windows.spend(at: now)
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
        return continuations > maxContinuations ? .continuation : nil
    }

    /// DATA of ours went out, for which the peer may open windows, and send a PING to see how fast it comes.
    mutating func sentData() {
        windows.add(4)
        pings.add(1)
    }
}
