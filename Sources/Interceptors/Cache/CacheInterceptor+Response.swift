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

/// The way of a response to a cache: stored, validated, or in the place of one that has failed.
extension CacheInterceptor {
    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        switch call[stateOf: self] {
        case .changing(let target)?:
            if 200..<400 ~= head.status, call.hasUpstreamResponse { change(target, head, call) }
            addStatus("fwd=method", to: head, call)
            return pass(call)
        case .passing(let text)?:
            addStatus(text, to: head, call)
            return pass(call)
        case .fetching(let fetch)?: return responseHead(head, call, fetch)
        case .waiting?, nil: return .next
        }
    }

    /// An unsafe request has been successful (RFC 9111 §4.4).
    private func change(_ target: CacheTarget, _ head: HTTPHead, _ call: Call) {
        var targets = [target.bytes]
        for name in Self.locations {
            guard let index = head.first(name) else { continue }
            let received = call.received
            if let other = target.resolve(head.value(at: index), callersHost: received.authority) {
                targets.append(other)
            }
        }
        let resources = targets.map { changed in
            key.writeResource(call, host: target.host.span, changed.span)
            return key.resource
        }
        store?.withState { state in
            for resource in resources { state.change(resource: resource) }
        }
    }

    /// Who stores a response says when it was received, where the upstream does not say when it made it (RFC 9110 §6.6.1).
    private static let date = FieldName("date")
    private static let locations = [FieldName("location"), FieldName("content-location")]

    private func responseHead(_ head: HTTPHead, _ call: Call, _ fetch: CacheFetch) -> Verdict {
        let now = call.now
        guard call.hasUpstreamResponse || call.upstreamError != nil else { return decidedHere(head, call, fetch) }
        guard call.hasUpstreamResponse, !Self.isFailure(head) else { return failed(head, call, fetch) }
        let isRPC = !isPlain(call)
        if isRPC, let index = head.first(.grpcStatus), !head.value(at: index).equals("0") {
            return decidedHere(head, call, fetch)
        }
        let wall = worker.loop.clock.wall
        let times = CacheRule.Times(requested: fetch.flight.began, received: now, wall: wall)
        if isPlain(call), head.first(Self.date) == nil { head.add(Self.date, HTTPDate.text(of: wall).span) }
        let hasCredentials = fetch.head.first(.authorization) != nil && !sharesCredentials
        let rule = isRPC ? rpcRule : plan.rule
        if head.status == 304, fetch.validates,
            let response = fetch.freshen(head, rule, hasCredentials: hasCredentials, times)
        {
            return validated(response, call, fetch)
        }
        let request = fetch.head
        if request.method.equals("HEAD"), head.status == 200, fetch.differs(head) {
            store?.withState { $0.change(resource: fetch.flight.resource) }
        }
        let isWhole = request.method.equals("GET") || isRPC && head.status == 200
        let freshness = isWhole ? rule.freshness(of: head, hasCredentials: hasCredentials, times) : nil
        let isOfUse = freshness?.isOfUse(hasValidator: Self.hasValidator(head)) == true
        note(.miss, fetch, call)
        let isTooLarge = head.contentLength ?? 0 > store?.settings.object ?? 0
        if freshness != nil, isTooLarge { worker.limitHit(.cacheObject) }
        guard let freshness, isOfUse, !isTooLarge else {
            fetch.end(.passed, at: now)
            addStatus(fetch.cause, to: head, call)
            return fetch.isBackground ? .reset : pass(call)
        }
        fetch.begin(head, freshness, at: now)
        addStatus(fetch.cause, isStored: true, to: head, call)
        return .next
    }

    private static let validators = [FieldName("etag"), FieldName("last-modified")]
    private static func hasValidator(_ head: HTTPHead) -> Bool { validators.contains { head.first($0) != nil } }

    /// Whether the request of a call has no message in its body.
    func isPlain(_ call: Call) -> Bool { call.rpcProtocol == .http || call.rpcProtocol == .connectGet }

    /// The response is not for others this time: it is an error, an interceptor behind the cache has decided, or the caller's
    /// time is over.
    private func decidedHere(_ head: HTTPHead, _ call: Call, _ fetch: CacheFetch) -> Verdict {
        note(.miss, fetch, call)
        addStatus(fetch.cause, to: head, call)
        fetch.end(call.ownCode == .deadlineExceeded ? .abandoned : .dropped, at: call.now)
        return pass(call)
    }

    private func addStatus(_ text: StaticString, isStored: Bool = false, to head: HTTPHead, _ call: Call) {
        call.addCacheStatus(to: head) { queue in
            queue.append(text)
            if isStored { queue.append("; stored") }
        }
    }

    /// Whether an upstream that responds like this has failed (RFC 5861 §4); of gRPC, that it is unavailable.
    private static func isFailure(_ head: HTTPHead) -> Bool {
        if let index = head.first(.grpcStatus) { return head.value(at: index).equals("14") }
        return head.status == 500 || 502...504 ~= head.status
    }

    /// The upstream has failed, or is not there: what is stale may do.
    private func failed(_ head: HTTPHead, _ call: Call, _ fetch: CacheFetch) -> Verdict {
        fetch.end(.failed, at: call.now)
        if fetch.isBackground { fetch.postpone(until: call.now + Self.refreshPause) }
        guard let stale = fetch.stale, stale.freshness.isUsableOnError(at: call.now), !fetch.isBackground else {
            note(.miss, fetch, call)
            addStatus(fetch.cause, to: head, call)
            return pass(call)
        }
        note(.stale, fetch, call)
        let reply = CacheReply(stale, CacheRequest(fetch.head), fetch.head, for: call, scratch)
        return .respondStored(reply.response("fwd=stale; detail=stale_if_error", at: call.now))
    }

    /// The upstream has confirmed the stored response.
    private func validated(_ response: CachedResponse, _ call: Call, _ fetch: CacheFetch) -> Verdict {
        note(.revalidated, fetch, call)
        let reply = CacheReply(response, CacheRequest(fetch.head), fetch.head, for: call, scratch)
        return .respondStored(reply.response(fetch.cause, "; fwd-status=304", at: call.now))
    }

    func note(_ result: CacheLabel, _ fetch: CacheFetch, _ call: Call) {
        guard !fetch.isBackground, !fetch.isNoted else { return }
        fetch.isNoted = true
        call.note(cache: result)
    }

    func responseBytes(_ bytes: Span<UInt8>, _ call: Call) {
        guard case .fetching(let fetch)? = call[stateOf: self], fetch.isStoring else { return }
        switch fetch.append(bytes, in: call.rpcProtocol) {
        case .kept: break
        case .stream: fetch.end(.passed, at: call.now)
        case .tooLarge:
            worker.limitHit(.cacheObject)
            fetch.end(.passed, at: call.now)
        case .noRoom:
            worker.limitHit(.cacheRoom)
            fetch.end(.dropped, at: call.now)
        }
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        guard case .fetching(let fetch)? = call[stateOf: self], fetch.isStoring else { return .next }
        let rpcProtocol = call.rpcProtocol
        guard !end.isReplaced, rpcProtocol == .http || end.code == .ok, fetch.isOneMessage(in: rpcProtocol) else {
            fetch.end(.failed, at: call.now)
            return .next
        }
        let hasRoom = fetch.store(trailers: end.trailers, in: rpcProtocol, at: call.now)
        if !hasRoom { worker.limitHit(.cacheRoom) }
        return .next
    }

    func finished(_ call: Call) {
        switch call[stateOf: self] {
        case .fetching(let fetch)?:
            note(.miss, fetch, call)
            // Whoever waits may still want it; what has failed may fail again.
            let isOfCaller = call.decidedBy == "caller" || call.code == .deadlineExceeded && call.upstreamError == nil
            fetch.end(isOfCaller ? .abandoned : .failed, at: call.now)
            if fetch.isBackground { fetch.postpone(until: call.now + Self.refreshPause) }
        case .waiting(let wait)?: wait.end()
        case .changing?, .passing?, nil: break
        }
    }
}
