public import Bytes
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
    ///   - head: the head; what caches before have said stays.
    ///   - write: writes what stands behind the name of Martlet.
    public func addCacheStatus(to head: HTTPHead, _ write: (ByteQueue) -> Void) {
        guard callerLeg.listener.sendsProxyStatus else { return }
        let value = worker.acquireQueue()
        if let index = head.first(Self.cacheStatus) {
            value.append(head.value(at: index))
            value.append(", ")
        }
        value.append("martlet; ")
        write(value)
        head.set(Self.cacheStatus, value.readable)
        worker.release(value)
    }
}
