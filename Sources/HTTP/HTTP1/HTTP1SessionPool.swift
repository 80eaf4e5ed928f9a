package import Bytes

/// Keeps sessions for the next who needs one: a caller's connection of HTTP/1.1 has none between two calls.
///
/// Belongs to one thread.
package final class HTTP1SessionPool {
    private let heads: HTTPHeadPool
    private var free = FreeList<HTTP1ServerSession>(limit: 512)

    /// Makes an empty pool of sessions that take their heads from `heads`.
    package init(heads: HTTPHeadPool) {
        self.heads = heads
    }

    /// A session at rest for a connection, whose responses go to `output`.
    package func acquire(for owner: any HTTPServerOwner, output: ByteQueue, limits: HTTPLimits) -> HTTP1ServerSession {
        guard let session = free.acquire() else {
            return HTTP1ServerSession(owner: owner, output: output, heads: heads, limits: limits)
        }
        session.attach(to: owner, output: output, limits: limits)
        return session
    }

    /// Takes a session back that is at rest, unless somebody still holds it: a late word of his must reach nobody else.
    package func release(_ session: consuming HTTP1ServerSession) {
        session.detach()
        if isKnownUniquelyReferenced(&session) { free.release(session) }
    }

    /// Forgets the sessions that nobody has needed since the last trim.
    package func trim() {
        free.trim()
    }
}
