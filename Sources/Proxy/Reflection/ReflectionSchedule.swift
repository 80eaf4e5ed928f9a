internal import Policy
internal import Time

/// When types are fetched by reflection.
///
/// Pure: times and chance come from outside.
struct ReflectionSchedule: Equatable {
    /// How long after the beginning of a fetch a call with an unknown method may cause the next.
    static let minPause = 30 * Duration.second

    /// How long after a fetch that succeeded the next one begins.
    let refresh: Duration
    /// When the next fetch is due.
    private(set) var due: Instant
    /// When the last one began.
    private var began: Instant?
    /// Whether a call has had an unknown method since then.
    private var isWanted = false
    private var retries = RefreshSchedule(ahead: .zero)

    /// Has a fetch begin at once.
    init(refresh: Duration, at now: Instant) {
        self.refresh = refresh
        due = now
    }

    /// A fetch begins.
    mutating func begin(at now: Instant) {
        began = now
        isWanted = false
    }

    /// A fetch has succeeded.
    mutating func succeed(at now: Instant) {
        retries.succeeded()
        due = now + refresh
        if isWanted { request(at: now) }
    }

    /// A fetch has failed; `random` is from 0 up to, and without, 1.
    mutating func fail(at now: Instant, random: Double) {
        due = now + retries.failed(random: random)
    }

    /// A call has a method that is not known.
    mutating func request(at now: Instant) {
        isWanted = true
        guard let began else { return }
        due = min(due, max(now, began + Self.minPause))
    }
}
