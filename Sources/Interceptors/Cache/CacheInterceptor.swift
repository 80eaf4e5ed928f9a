internal import Bytes
internal import Caching
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// Serves one worker's calls out of a cache, and stores what comes for them.
final class CacheInterceptor: Interceptor {
    /// What the cache has to do with a call.
    enum CallState {
        /// The call waits: for its message, which is a part of the key, or for another that fetches the same.
        case waiting(CacheWait)
        /// It fetches a response.
        case fetching(CacheFetch)
        /// It may change its target.
        case changing(CacheTarget)
        /// It passes by, and its caller is told why.
        case passing(StaticString)
    }

    let plan: CachePlan
    let store: CacheStore?
    let key: CacheKey
    let worker: WorkerServices
    let waiters: CacheWaiters
    let sharesCredentials: Bool
    let sharesCookies: Bool
    let rpcRule: CacheRule
    let scratch = ByteQueue(keeping: 64)

    init(_ plan: CachePlan, on worker: WorkerServices) {
        (self.plan, self.worker) = (plan, worker)
        store = plan.settings.map { settings in
            worker.shared.object(settings.name, fits: { $0.settings == settings }, make: { CacheStore(settings) })
        }
        let scopes = worker.shared.object("scopes", make: CacheScopes.init)
        key = CacheKey(plan.key, within: plan.around, scopes)
        waiters = worker.shared { CacheWaiters(on: worker.loop) }
        sharesCredentials = plan.keyParts.contains("header:authorization")
        sharesCookies = plan.ignoresCookies || plan.keyParts.contains("header:cookie")
        var rule = plan.rule
        rule.ttl = plan.methods?.ttl
        rpcRule = rule
    }

    // MARK: The request

    func requestHead(_ call: Call) -> Verdict {
        if case .fetching(let fetch)? = call[stateOf: self] {
            fetch.prepare(call.request)
            return .next
        }
        guard store != nil else { return pass(call) }
        switch call.rpcProtocol {
        case .http, .connectGet: return plainHead(call)
        default:
            guard call.rpcProtocol != .connectStream, plan.methods?.contains(call) == true else {
                // Its path may be that of a GET as well.
                return call.rpcProtocol == .connectUnary ? changing(call) : pass(call)
            }
            let wait = CacheWait(needsMessage: true)
            call[stateOf: self] = .waiting(wait)
            return .suspend(wait.suspension)
        }
    }

    private func plainHead(_ call: Call) -> Verdict {
        let request = call.request
        if request.method.equals("GET") || request.method.equals("HEAD") {
            return decide(call, nil)
        }
        guard !request.method.equals("OPTIONS"), !request.method.equals("TRACE") else { return pass(call) }
        call.note(cache: .bypass)
        return changing(call)
    }

    private func changing(_ call: Call) -> Verdict {
        // As it stands here: a `rewrite` behind the cache is no part of keys.
        call[stateOf: self] = .changing(CacheTarget(of: call))
        return .next
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        guard case .waiting(let wait)? = call[stateOf: self], wait.needsMessage else { return .next }
        let limit = store?.settings.object ?? 0
        if !wait.receive(payload, limit: limit) { wait.suspension.resume(bypass(call)) }
        return .next
    }

    func requestEnd(_ call: Call) -> Verdict {
        guard case .waiting(let wait)? = call[stateOf: self], wait.needsMessage else { return .next }
        wait.needsMessage = false
        guard wait.message != nil else {
            wait.suspension.resume(bypass(call))
            return .next
        }
        if let verdict = decide(call, nil, wait) { wait.suspension.resume(verdict) }
        return .next
    }

    /// The call is none of the cache's.
    func pass(_ call: Call) -> Verdict {
        call.leave(self)
        return .next
    }

    /// Likewise, although it might have been one.
    private func bypass(_ call: Call) -> Verdict {
        if case .waiting(let wait)? = call[stateOf: self] { wait.end() }
        call.note(cache: .bypass)
        call[stateOf: self] = .passing("fwd=bypass")
        return .next
    }

    // MARK: Decisions

    private func decide(_ call: Call, _ word: CacheWaiter.Word?) -> Verdict {
        if let verdict = decide(call, word, nil) { return verdict }
        guard case .waiting(let wait)? = call[stateOf: self] else { return .next }
        return .suspend(wait.suspension)
    }

    /// Decides on a call.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - word: what it was woken with, if it has waited.
    ///   - wait: its wait, if it waits already.
    /// - Returns: nil if it waits for another.
    private func decide(_ call: Call, _ word: CacheWaiter.Word?, _ wait: CacheWait?) -> Verdict? {
        guard let store else { return pass(call) }
        let (request, head) = (CacheRequest(call.request), call.request)
        guard !isOutside(request, call) else {
            guard request.control.flags.contains(.onlyIfCached) else { return bypass(call) }
            return settle(.lack, request, call, wait, hasWaited: false)
        }
        key.write(call, wait?.message)
        var query = CacheState.Query(request, head, key: key.bytes, resource: key.resource, at: call.now)
        query.hasCredentials = request.traits.contains(.authorization) && !sharesCredentials
        query.hasFailed = word == .upstreamFailed
        query.waitsSince = wait?.since
        let isLate = word == .goOn || word == .upstreamFailed
        // The message of an RPC is not at hand any more when that is refreshed.
        query.canRefresh = isPlain(call) && head.method.equals("GET")
        query.isAlone = query.hasCredentials || isLate || head.method.equals("HEAD")
        query.mayWait = plan.waitLimit > .zero
        var waiting = wait
        let decision = store.withState { state in
            state.decide(query) { number in
                let kept = waiting ?? CacheWait(needsMessage: false)
                waiting = kept
                let (waiter, bell) = waiters.makeWaiter(number) { [unowned self] in woken(call, kept, $0) }
                kept.bell = bell
                return waiter
            }
        }
        return settle(decision, request, call, waiting, hasWaited: word != nil)
    }

    /// Whether the cache is not asked about a request.
    private func isOutside(_ request: CacheRequest, _ call: Call) -> Bool {
        if request.control.flags.contains(.noStore) || request.traits.contains(.precondition) { return true }
        if isPlain(call), call.awaitsBody { return true }
        return request.traits.contains(.cookie) && !sharesCookies || key.isAmbiguous(call)
    }

    private func settle(
        _ decision: CacheState.Decision,
        _ request: CacheRequest,
        _ call: Call,
        _ wait: CacheWait?,
        hasWaited: Bool
    ) -> Verdict? {
        if case .wait(let key, let number) = decision {
            if let wait { begin(wait, key, number, call) }
            return nil
        }
        wait?.end()
        call[stateOf: self] = nil
        switch decision {
        case .serve(let response):
            call.note(cache: hasWaited ? .collapsed : .hit)
            let status: StaticString = hasWaited ? "hit; collapsed" : "hit"
            return .respondStored(reply(response, request, call).response(status, at: call.now))
        case .serveStale(let response, let flight):
            if let flight { refresh(flight, response, call) }
            call.note(cache: .stale)
            return .respondStored(reply(response, request, call).response("hit", at: call.now))
        case .lead(let flight, let stale), .pass(let flight, let stale): return fetch(flight, stale, request, call)
        case .lack:
            call.note(cache: .miss)
            let text = "the response is not in the cache, and the caller wants no other (only-if-cached)"
            return .reject(RPCError(.unavailable, text, httpStatus: 504))
        case .wait: return nil
        }
    }

    private func reply(_ response: CachedResponse, _ request: CacheRequest, _ call: Call) -> CacheReply {
        CacheReply(response, request, call.request, for: call, scratch)
    }

    private func fetch(
        _ flight: CacheFlight,
        _ stale: CachedResponse?,
        _ request: CacheRequest,
        _ call: Call
    ) -> Verdict {
        guard let store else { return .next }
        let isApart = request.traits.contains(.authorization) && !sharesCredentials
        let isAsked = request.wantsValidation || request.control.maxAge != nil
        let causeOfStale: StaticString = isAsked || request.control.minFresh != nil ? "fwd=request" : "fwd=stale"
        let cause = stale != nil ? causeOfStale : isApart ? "fwd=bypass" : "fwd=miss"
        let fetch = CacheFetch(flight, call, cause, stale: stale, in: store)
        if isApart, stale == nil { note(.bypass, fetch, call) }
        fetch.prepare(call.request)
        call[stateOf: self] = .fetching(fetch)
        return .next
    }

    /// Validates a response while callers still get it.
    private func refresh(_ flight: CacheFlight, _ stale: CachedResponse, _ call: Call) {
        guard let store else { return }
        let fetch = CacheFetch(flight, call, "fwd=stale", stale: stale, in: store, isBackground: true)
        let isBegun = call.beginInBackground(at: self, keeping: .fetching(fetch), limit: Self.refreshLimit)
        if !isBegun { fetch.end(.abandoned, at: call.now) }
    }

    /// How long a refresh in the background takes at most, and how long none begins after one has failed.
    static let refreshLimit = 30 * Duration.second
    static let refreshPause = Duration.second

    // MARK: Waiting

    private func begin(_ wait: CacheWait, _ key: [UInt8], _ number: Int, _ call: Call) {
        call[stateOf: self] = .waiting(wait)
        wait.since = call.now
        wait.leave = { [unowned self, unowned wait] in
            if let bell = wait.bell.take() { waiters.remove(bell: bell) }
            store?.withState { $0.leave(key, number) }
        }
        wait.suspension.canceled = { wait.end() }
        guard wait.timer == nil else { return }
        wait.timer = call.timer(after: plan.waitLimit) { [unowned self] in
            worker.limitHit(.cacheWait)
            wait.leave?()
            woken(call, wait, .goOn)
        }
    }

    private func woken(_ call: Call, _ wait: CacheWait, _ word: CacheWaiter.Word) {
        guard !wait.isOver else { return }
        if let verdict = decide(call, word, wait) { wait.suspension.resume(verdict) }
    }
}
