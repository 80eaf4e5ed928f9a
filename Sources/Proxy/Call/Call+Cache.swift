internal import Bytes
public import HTTP
public import Telemetry

/// What is told of a cache that a call has come to.
extension Call {
    private static let cacheStatus = FieldName("cache-status")

    /// Notes what has become of the call at a cache, for metrics and the access log; what is noted last is logged.
    public func note(cache result: CacheLabel) {
        worker.counters.cacheRequest(result)
        record.cache = result
    }

    /// Says in the head of a response what a cache has done (RFC 9211), if callers of the listener are told such things.
    ///
    /// - Parameters:
    ///   - text: what stands behind the name of Martlet.
    ///   - head: the head; what caches before have said stays.
    public func addCacheStatus(_ text: Span<UInt8>, to head: HTTPHead) {
        guard callerLeg.listener.sendsProxyStatus else { return }
        let value = worker.acquireQueue()
        if let index = head.first(Self.cacheStatus) {
            value.append(head.value(at: index))
            value.append(", ")
        }
        value.append("martlet; ")
        value.append(text)
        head.set(Self.cacheStatus, value.readable)
        worker.release(value)
    }
}
