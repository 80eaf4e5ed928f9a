internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Telemetry

/// The body of a request as far as it has been sent, for a retry.
struct RetryBuffer {
    /// Nil if there is none, or too much of it.
    var body: ByteQueue?
    /// What comes behind that, in a file; it may be there for a retry that has begun, although no other can.
    var spool: Spool?
    /// Why the request cannot be retried from what is kept of it, if it cannot.
    var skipReason: RetrySkipReason?
    /// An interceptor may retry the call: what is sent is kept until something of a response goes out.
    var isWanted = false
}

extension Call {
    /// Whether the request could be retried from what is kept of it.
    var isRetryable: Bool { upstreamLeg.retryBuffer.skipReason == nil && !response.headSent }

    func keepForRetry(_ body: Span<UInt8>, by attempt: Attempt) {
        guard isRetryable else { return }
        guard upstreamLeg.retryBuffer.isWanted || attempt.mayNeedRetryBuffer else { return discardRetryBuffer(.buffer) }
        if let spool = upstreamLeg.retryBuffer.spool { return keep(body, in: spool) }
        let queue = upstreamLeg.retryBuffer.body.take() ?? worker.acquireQueue()
        let room = (route.upstream?.settings.limits.retryBuffer ?? 0) - queue.count
        upstreamLeg.retryBuffer.body = queue
        if body.count <= room { queue.append(body) } else { beginSpool(body, room: room, by: attempt) }
    }

    /// Nothing will be retried.
    func discardRetryBuffer(_ reason: RetrySkipReason) {
        if upstreamLeg.retryBuffer.skipReason == nil { upstreamLeg.retryBuffer.skipReason = reason }
        releaseRetryBuffer()
    }

    /// What was kept of the body is not needed any more.
    func releaseRetryBuffer() {
        if let queue = upstreamLeg.retryBuffer.body.take() { worker.release(queue) }
        if let spool = upstreamLeg.retryBuffer.spool { release(spool) }
    }

    /// Nobody gets any more of the request, or gets it again.
    func releaseRequest() {
        discardRetryBuffer(.incomplete)
        releaseRest(.request)
        if let queue = upstreamLeg.outbox.take() { worker.release(queue) }
        callerLeg.stream.resume(.slowPeer)
        callerLeg.stream.resume(.noUpstream)
        callerLeg.stream.resume(.spool)
    }
}
