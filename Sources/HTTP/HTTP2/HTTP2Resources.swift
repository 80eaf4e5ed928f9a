package import Bytes

/// What all HTTP/2 sessions of one thread share, so that one call uses again what another has left.
package final class HTTP2Resources {
    let heads: HTTPHeadPool
    let queues: ByteQueuePool
    /// Counts what nghttp2 holds for the sessions: their tables of header fields above all.
    package let meter = MemoryMeter()
    let memory: HTTP2Memory

    /// Makes what sessions share, around the pools of the thread.
    package init(heads: HTTPHeadPool, queues: ByteQueuePool) {
        self.heads = heads
        self.queues = queues
        memory = HTTP2Memory(meter: meter)
    }

    /// Forgets the memory of nghttp2's objects that nobody has needed since the last trim.
    package func trim() {
        memory.trim()
    }
}
