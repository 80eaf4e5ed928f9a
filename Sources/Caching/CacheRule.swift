internal import Bytes
public import HTTP
public import Time

/// What a cache stores, and for how long it is fresh (RFC 9111 §3, §4.2.1).
///
/// A value: safe on any thread.
public struct CacheRule: Equatable, Sendable {
    /// The share of the time since the last change for which a response without explicit freshness is fresh; zero for none.
    public var heuristic: Double
    /// The most that a stale response is used when the upstream fails; nil leaves it to the response.
    public var staleIfError: Duration?
    /// The most that a stale response is used while it is validated; nil leaves it to the response.
    public var staleWhileRevalidate: Duration?
    /// How long a response is fresh that does not say so itself; nil if it is not stored then.
    public var ttl: Duration?

    /// Makes a rule.
    public init(
        heuristic: Double = 0,
        staleIfError: Duration? = nil,
        staleWhileRevalidate: Duration? = nil,
        ttl: Duration? = nil
    ) {
        self.heuristic = heuristic
        self.staleIfError = staleIfError
        self.staleWhileRevalidate = staleWhileRevalidate
        self.ttl = ttl
    }

    /// The longest time of heuristic freshness.
    static let maxHeuristic = 86_400 * Duration.second

    /// When a response was asked for and came.
    public struct Times: Sendable {
        let requested: Instant
        /// When the head of the response came.
        public let received: Instant
        let wall: WallTime

        /// Takes the times of the request and of the head of its response, and the time of day of the latter.
        public init(requested: Instant, received: Instant, wall: WallTime) {
            (self.requested, self.received, self.wall) = (requested, received, wall)
        }
    }

    /// How fresh a response is.
    ///
    /// - Parameters:
    ///   - head: the head of the response.
    ///   - hasCredentials: whether the request had `authorization`, so that only what is said to be for all is stored
    ///     (RFC 9111 §3.5).
    ///   - times: when it came.
    /// - Returns: nil if it is not stored.
    public func freshness(of head: HTTPHead, hasCredentials: Bool, _ times: Times) -> Freshness? {
        let control = CacheControl(head)
        guard mayStore(head, control) else { return nil }
        let isForAll =
            !control.flags.isDisjoint(with: [.isPublic, .mustRevalidate]) || control.sharedMaxAge != nil
        guard !hasCredentials || isForAll else { return nil }
        let date = head.date(Self.date, now: times.wall) ?? times.wall
        guard let lifetime = lifetime(of: head, control, date, times.wall) else { return nil }
        let apparent = max(.zero, times.wall.duration(saturatingSince: date))
        let corrected = head.age + (times.received - times.requested)
        let isStrict =
            !control.flags.isDisjoint(with: [.mustRevalidate, .proxyRevalidate]) || control.sharedMaxAge != nil
        let isAlwaysValidated = control.flags.contains(.noCache)
        let maybeStale = !isStrict && !isAlwaysValidated
        return Freshness(
            received: times.received,
            initialAge: max(apparent, corrected),
            lifetime: lifetime,
            isAlwaysValidated: isAlwaysValidated,
            staleIfError: maybeStale ? Self.least(control.staleIfError, staleIfError) : .zero,
            staleWhileRevalidate: maybeStale ? Self.least(control.staleWhileRevalidate, staleWhileRevalidate) : .zero,
            maybeStale: maybeStale,
            isForAll: isForAll
        )
    }

    /// What both allow, if both say something.
    private static func least(_ one: Duration?, _ other: Duration?) -> Duration {
        guard let one, let other else { return one ?? other ?? .zero }
        return min(one, other)
    }

    private func mayStore(_ head: HTTPHead, _ control: CacheControl) -> Bool {
        guard Self.isKnown(head.status), !control.flags.contains(.isPrivate) else { return false }
        guard !control.flags.contains(.noStore) || control.flags.contains(.mustUnderstand) else { return false }
        return head.first(.setCookie) == nil && !VaryNames.isEverything(head)
    }

    /// The statuses that are stored (RFC 9110 §15.1), without partial content.
    private static func isKnown(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// For how long a response is fresh; nil if nothing says so.
    private func lifetime(of head: HTTPHead, _ control: CacheControl, _ date: WallTime, _ now: WallTime) -> Duration? {
        if let age = control.sharedMaxAge ?? control.maxAge { return age }
        if !control.isTargeted, let index = head.first(Self.expires) {
            guard let time = HTTPDate(head.value(at: index), now: now)?.time else { return .zero }
            return max(.zero, time.duration(saturatingSince: date))
        }
        if let ttl { return ttl }
        if heuristic > 0, let modified = head.date(Self.lastModified, now: now) {
            let known = max(.zero, date.duration(saturatingSince: modified))
            return min(known.scaled(by: heuristic), Self.maxHeuristic)
        }
        return control.flags.contains(.noCache) ? .zero : nil
    }

    static let date = FieldName("date")
    static let expires = FieldName("expires")
    static let lastModified = FieldName("last-modified")
    static let ageName = FieldName("age")
}

extension HTTPHead {
    /// The time that a field says; nil without the field, or if that is malformed.
    func date(_ name: FieldName, now: WallTime) -> WallTime? {
        guard let index = first(name) else { return nil }
        return HTTPDate(value(at: index), now: now)?.time
    }

    /// The age that the response says; of several values the first counts, and what is malformed is none
    /// (RFC 9111 §5.1).
    fileprivate var age: Duration {
        guard let index = first(CacheRule.ageName) else { return .zero }
        let value = value(at: index)
        var list = ListReader()
        guard let range = list.next(value) else { return .zero }
        return CacheControl.seconds(value.extracting(range))
    }
}
