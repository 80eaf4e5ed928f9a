public import Bytes
public import HTTP
public import Time

/// What a cache holds, and who fetches what for it.
///
/// Pure: told what happens and when, it says what is to be done. Belongs to whoever holds it.
public struct CacheState {
    /// What becomes of a request.
    public enum Decision {
        /// It gets a stored response.
        case serve(CachedResponse)
        /// It gets a stored response that is stale; the flight is to validate it meanwhile, if there is one.
        case serveStale(CachedResponse, refresh: CacheFlight?)
        /// It goes upstream, and others wait for it; a stale response is validated by it.
        case lead(CacheFlight, stale: CachedResponse?)
        /// It waits for the flight by this key, under this number.
        case wait(key: [UInt8], number: Int)
        /// It goes upstream, and nobody waits for it; likewise.
        case pass(CacheFlight, stale: CachedResponse?)
        /// The caller wants no request to the upstream, and there is no response.
        case lack
    }

    /// What stands under a key.
    private enum Entry {
        case response(CachedResponse)
        /// There are several responses, by these fields of requests.
        case varies(VaryNames)
        /// Requests do not wait for each other until then.
        case passed(until: Instant)
    }

    private struct Flight {
        let number: Int
        var waiters: [CacheWaiter] = []
    }

    /// For how long requests do not wait for each other, once a response was not stored.
    static let passTime = 10 * Duration.second

    private var entries: SegmentedLRU<Entry>
    private var flights: [[UInt8]: Flight] = [:]
    private var stamps = CacheStamps()
    private var lastNumber = 0

    /// The most bytes of one body.
    private let bodyLimit: Int

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - limit: the most bytes that it holds.
    ///   - bodyLimit: the most bytes of one body, which have room whatever is in use.
    public init(limit: Int, bodyLimit: Int = 0) {
        entries = SegmentedLRU(limit: limit)
        self.bodyLimit = bodyLimit
    }

    /// The bytes that it holds, with those that are being fetched.
    public var byteCount: Int { entries.cost + entries.reserved }
    /// How many responses and marks it holds.
    public var count: Int { entries.count }
    /// How many had to go for others.
    public var evictions: Int { entries.evictions }

    // MARK: Requests

    /// A request, as a cache sees it.
    public struct Query {
        let request: CacheRequest
        let head: HTTPHead
        let key: ByteQueue
        let resource: Int
        let now: Instant
        /// Whether the request waits for no other, and no other for it.
        public var isAlone = false
        /// Whether the flight that it has waited for came to nothing, so that it takes what is stale.
        public var hasFailed = false
        /// Whether only responses are used that are for all callers, as it has credentials.
        public var hasCredentials = false
        /// Whether its response can be validated while it is served.
        public var canRefresh = true
        /// Whether it can wait for others.
        public var mayWait = true
        /// Since when it has waited for what another fetched, if it has.
        public var waitsSince: Instant?

        /// Takes what a request asks of a cache, its head, its key, the hash of the name of its target, and the time.
        ///
        /// The key gets what `vary` adds to it.
        public init(
            _ request: CacheRequest,
            _ head: HTTPHead,
            key: ByteQueue,
            resource: Int,
            at now: Instant
        ) {
            (self.request, self.head, self.key, self.resource, self.now) = (request, head, key, resource, now)
        }
    }

    /// Decides on a request.
    ///
    /// - Parameters:
    ///   - query: the request.
    ///   - makeWaiter: makes what wakes it by that number, if it is to wait.
    /// - Returns: what becomes of it.
    public mutating func decide(_ query: Query, _ makeWaiter: (Int) -> CacheWaiter) -> Decision {
        let primaryCount = query.key.count
        let place = find(query)
        let entry = place.flatMap { entries.value(at: $0) }
        var stale: CachedResponse?
        if case .response(let response)? = entry, let place, isUsable(response, query) {
            entries.use(place)
            switch response.freshness.use(for: query.request, at: query.now) {
            case .fresh: return .serve(response)
            case .stale: return .serveStale(response, refresh: nil)
            case .background where query.request.control.flags.contains(.onlyIfCached):
                return .serveStale(response, refresh: nil)
            case .background where query.canRefresh:
                return .serveStale(response, refresh: beginRefresh(query, primaryCount))
            case .validate where query.hasFailed && response.freshness.isUsableOnError(at: query.now):
                return .serveStale(response, refresh: nil)
            case .validate, .background: stale = response
            }
        }
        if query.request.control.flags.contains(.onlyIfCached) { return .lack }
        let isForOne = stale.map { isOfNoUse($0.freshness, query) } ?? isPassed(entry, at: query.now)
        return fetch(query, primaryCount, stale, isForOne: isForOne, makeWaiter)
    }

    /// Where the entry of a request is, whose key then has what `vary` adds to it.
    private mutating func find(_ query: Query) -> Int? {
        let key = query.key
        let place = entries.place(of: key.readable, hash: key.readable.seededHash)
        guard let place, case .varies(let names)? = entries.value(at: place) else { return place }
        entries.use(place)
        names.append(of: query.head, to: key)
        return entries.place(of: key.readable, hash: key.readable.seededHash)
    }

    private func isUsable(_ response: CachedResponse, _ query: Query) -> Bool {
        stamps.isCurrent(response.stamp, of: query.resource)
            && (!query.hasCredentials || response.freshness.isForAll)
    }

    /// Whether what another brings is of no use to a request, as it is too old for that when it has come.
    private func isOfNoUse(_ freshness: Freshness, _ query: Query) -> Bool {
        freshness.isForOne(query.request) || query.waitsSince.map { freshness.received >= $0 } ?? false
    }

    private func isPassed(_ entry: Entry?, at now: Instant) -> Bool {
        if case .passed(let until)? = entry { until > now } else { false }
    }

    private mutating func beginRefresh(_ query: Query, _ primaryCount: Int) -> CacheFlight? {
        guard flights[query.key.readable.array] == nil else { return nil }
        return begin(query, primaryCount)
    }

    /// Who fetches the response of a request.
    private mutating func fetch(
        _ query: Query,
        _ primaryCount: Int,
        _ stale: CachedResponse?,
        isForOne: Bool,
        _ makeWaiter: (Int) -> CacheWaiter
    ) -> Decision {
        // What comes for a part, or only if there is news, is of no use to others; where the cache itself asks, all comes.
        let isPartial = stale?.hasValidator != true && !query.request.traits.isDisjoint(with: [.range, .validates])
        guard !isForOne, !isPartial, !query.isAlone, !query.request.wantsNew else {
            return .pass(makeFlight(query, primaryCount), stale: stale)
        }
        let key = query.key.readable.array
        guard flights[key] != nil else { return .lead(begin(query, primaryCount), stale: stale) }
        guard query.mayWait else { return .pass(makeFlight(query, primaryCount), stale: stale) }
        lastNumber += 1
        flights[key]?.waiters.append(makeWaiter(lastNumber))
        return .wait(key: key, number: lastNumber)
    }

    /// A call waits no more for the flight by a key.
    public mutating func leave(_ key: [UInt8], _ number: Int) {
        flights[key]?.waiters.removeAll { $0.number == number }
    }

    private mutating func makeFlight(_ query: Query, _ primaryCount: Int) -> CacheFlight {
        lastNumber += 1
        let key = query.key.readable.array
        return CacheFlight(
            primary: primaryCount == key.count ? key : Array(key[..<primaryCount]),
            key: key,
            number: lastNumber,
            resource: query.resource,
            stamp: stamps.stamp(of: query.resource),
            began: query.now
        )
    }

    private mutating func begin(_ query: Query, _ primaryCount: Int) -> CacheFlight {
        let flight = makeFlight(query, primaryCount)
        flights[flight.key] = Flight(number: flight.number)
        return flight
    }

    // MARK: Responses

    /// Takes room for bytes of a body that is being fetched; false if there is none beside what is in use.
    public mutating func reserve(_ count: Int) -> Bool {
        guard entries.reserved + count <= max(entries.unprotected, bodyLimit) else { return false }
        entries.reserved += count
        return true
    }

    /// Gives room back.
    public mutating func release(_ count: Int) { entries.reserved -= count }

    /// The response of a flight can be used for no other request when it has come: those that wait go upstream at once, and
    /// so do others until it has come.
    public mutating func open(_ flight: CacheFlight, at now: Instant) -> [CacheWaiter] {
        guard let known = flights[flight.key], known.number == flight.number else { return [] }
        flights[flight.key] = nil
        let place = entries.place(of: flight.key.span, hash: flight.key.span.seededHash)
        if place == nil { mark(flight, at: now) }
        return known.waiters
    }

    /// Requests do not wait for each other for a while.
    private mutating func mark(_ flight: CacheFlight, at now: Instant) {
        insert(.passed(until: now + Self.passTime), flight.key)
    }

    /// Keeps an entry, if there can be room for it.
    @discardableResult
    private mutating func insert(_ entry: Entry, _ key: [UInt8]) -> Bool {
        let own =
            switch entry {
            case .response(let response): response.byteCount
            case .varies(let names): names.byteCount
            case .passed: 0
            }
        let cost = own + key.capacity + SegmentedLRU<Entry>.overhead
        return entries.insert(entry, key, hash: key.span.seededHash, cost: cost)
    }

    /// A flight has ended.
    ///
    /// - Parameters:
    ///   - flight: the flight.
    ///   - end: what has come of it.
    ///   - head: the head of its request, as it stood at the cache.
    ///   - now: the time.
    /// - Returns: those that waited, and what they are to be told.
    public mutating func end(
        _ flight: CacheFlight,
        _ end: CacheFlight.End,
        _ head: HTTPHead,
        at now: Instant
    ) -> (waiters: [CacheWaiter], word: CacheWaiter.Word) {
        let known = flights[flight.key].flatMap { $0.number == flight.number ? $0 : nil }
        let waiters = known?.waiters ?? []
        if known != nil { flights[flight.key] = nil }
        switch end {
        case .stored(let response, let names):
            guard flight.stamp == stamps.stamp(of: flight.resource) else { return (waiters, .decideAnew) }
            if store(response, names, flight, head) { return (waiters, .decideAnew) }
            mark(flight, at: now)
            return (waiters, .goOn)
        case .passed:
            // Nobody waits for those that go by themselves, and what is stored is none of their business.
            guard known != nil else { return ([], .goOn) }
            mark(flight, at: now)
            return (waiters, .goOn)
        case .failed: return (waiters, .upstreamFailed)
        case .dropped: return (waiters, .goOn)
        case .abandoned: return (waiters, .decideAnew)
        }
    }

    private mutating func store(
        _ response: CachedResponse,
        _ names: VaryNames,
        _ flight: CacheFlight,
        _ head: HTTPHead
    ) -> Bool {
        let key = ByteQueue()
        key.append(flight.primary)
        if !names.isEmpty {
            insert(.varies(names), flight.primary)
            names.append(of: head, to: key)
        }
        return insert(.response(response), key.readable.array)
    }

    /// The response of a flight could not be validated: nobody does so before `time`.
    public mutating func postpone(_ flight: CacheFlight, _ stale: CachedResponse, until time: Instant) {
        let hash = flight.key.span.seededHash
        guard let place = entries.place(of: flight.key.span, hash: hash),
            case .response(let known)? = entries.value(at: place), known === stale
        else { return }
        var freshness = stale.freshness
        freshness.refreshesAfter = time
        insert(.response(CachedResponse(stale, freshness)), flight.key)
    }

    /// A stored response is none of its target any more.
    public mutating func drop(_ flight: CacheFlight) {
        entries.remove(flight.key.span, hash: flight.key.span.seededHash)
    }

    // MARK: Changes

    /// A target was changed: what is stored of it, and what is being fetched, is not used.
    public mutating func change(resource: Int) { stamps.change(resource) }

    /// Removes the responses whose keys are of some targets, and stores none of those that are being fetched.
    ///
    /// - Returns: how many there were.
    public mutating func purge(where isMeant: ([UInt8]) -> Bool) -> Int {
        stamps.purge()
        var count = 0
        entries.removeAll { key, entry in
            guard isMeant(key) else { return false }
            if case .response = entry { count += 1 }
            return true
        }
        return count
    }
}
