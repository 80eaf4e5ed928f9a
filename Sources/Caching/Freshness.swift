public import Time

/// How old a stored response is, and for how long it may be used (RFC 9111 §4.2).
///
/// Its times are of the monotonic clock: whoever sets the clock of the system changes no age. A value: safe on any thread.
public struct Freshness: Equatable, Sendable {
    /// When it was received, or validated last.
    let received: Instant
    /// How old it was then.
    let initialAge: Duration
    /// For how long it is fresh, from when it was made.
    let lifetime: Duration
    /// Whether it is used only when it was validated.
    let isAlwaysValidated: Bool
    /// For how long it may be used when it is stale and the upstream fails; zero if never.
    let staleIfError: Duration
    /// For how long it may be used while it is validated; zero if never.
    let staleWhileRevalidate: Duration
    /// Whether a caller may have it stale on request.
    let maybeStale: Bool
    /// Whether callers with credentials may have it as well, whoever it was fetched for (RFC 9111 §3.5).
    let isForAll: Bool

    /// When it may be validated in the background again, after that has failed.
    var refreshesAfter = Instant.min

    /// How old it is; a date of the upstream may be centuries off, and no age is more than some decades.
    public func age(at now: Instant) -> Duration { min(initialAge, Self.maxAge) + (now - received) }

    private static let maxAge = (1 << 31) * Duration.second

    /// Whether a plain request can have it now.
    public func isReusable(at now: Instant) -> Bool {
        !isAlwaysValidated && -remaining(at: now) < max(.zero, staleWhileRevalidate)
    }

    /// Whether anybody may have use of it.
    ///
    /// - Parameter hasValidator: whether the upstream can be asked if it has changed.
    /// - Returns: true for what a plain request can have, one that takes what is stale, or one that has it validated.
    public func isOfUse(hasValidator: Bool) -> Bool {
        isReusable(at: received) || hasValidator || maybeStale || staleIfError > .zero
    }

    /// Whether even one that came just now would have to be validated for a request, so that no request has use of what
    /// another brings.
    func isForOne(_ request: CacheRequest) -> Bool { use(for: request, at: received) == .validate }

    /// How long it is still fresh; negative once it is stale.
    public func remaining(at now: Instant) -> Duration { lifetime - age(at: now) }

    /// What a request gets of it.
    public enum Use: Equatable, Sendable {
        /// It is fresh.
        case fresh
        /// It is stale, and the caller takes it.
        case stale
        /// It is stale, and is validated while the caller has it already.
        case background
        /// It is validated first.
        case validate
    }

    /// What becomes of a request (RFC 9111 §4, §5.2.1).
    public func use(for request: CacheRequest, at now: Instant) -> Use {
        guard !isAlwaysValidated, !request.wantsValidation else { return .validate }
        let (age, control) = (age(at: now), request.control)
        let remaining = lifetime - age
        let isYoung = control.maxAge.map { age <= $0 } ?? true
        if isYoung, remaining > .zero, control.minFresh.map({ remaining >= $0 }) ?? true { return .fresh }
        guard maybeStale, control.minFresh == nil else { return .validate }
        if isYoung || control.maxStale != nil, let allowed = control.maxStale, -remaining <= allowed { return .stale }
        guard isYoung, -remaining < staleWhileRevalidate else { return .validate }
        return now < refreshesAfter ? .stale : .background
    }

    /// Whether it may be used as the upstream has failed.
    public func isUsableOnError(at now: Instant) -> Bool {
        staleIfError > .zero && -remaining(at: now) < staleIfError
    }
}
