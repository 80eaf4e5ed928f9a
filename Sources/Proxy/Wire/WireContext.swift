package import Bytes
package import Events
package import HTTP

/// What all wires of one thread share: the loop, and the memory that goes from one call to the next.
package final class WireContext {
    /// The loop of the thread.
    package let loop: EventLoop
    /// Counts what is held for calls.
    let meter = MemoryMeter()
    /// Buffers for what waits to be sent.
    package let buffers: BufferPool
    /// Heads for the next messages.
    package let heads = HTTPHeadPool()
    /// Queues that a call or a wire needs for a while.
    package let queues: ByteQueuePool
    /// Sessions of HTTP/1.1 for the next calls.
    let http1: HTTP1SessionPool
    /// What HTTP/2 connections share.
    let http2: HTTP2Resources
    /// What may be held for callers, in the whole process.
    let memory: MemoryBudget
    /// Sees to it that callers leave descriptors to others; nil if they need not.
    let descriptors: DescriptorKeeper?
    /// Closes connections if they hold too much of `memory`; nil if nothing bounds them.
    let reclaimer: MemoryReclaimer?
    /// Where everything that arrives is read to first, so that an idle connection holds no buffer.
    let scratch = ByteQueue(keeping: WireContext.readSize)
    /// Where what arrives encrypted is read to first; empty but while a transport reads.
    private(set) lazy var ciphertext = ByteQueue(keeping: WireContext.readSize)
    /// Where TLS writes what is to be sent; empty but while a transport writes.
    private(set) lazy var sealed = ByteQueue(keeping: WireContext.readSize)

    /// The most bytes that are read at once: a body of 64 KiB and the head before it, or the rest would cost a turn of its own.
    static let readSize = 72 * 1024

    /// Makes what a thread needs around its loop.
    package convenience init(loop: EventLoop) {
        self.init(loop: loop, memory: MemoryBudget())
    }

    /// Makes what a thread needs that shares budgets with others.
    init(
        loop: EventLoop,
        memory: MemoryBudget,
        descriptors: DescriptorKeeper? = nil,
        reclaimer: MemoryReclaimer? = nil
    ) {
        self.loop = loop
        self.memory = memory
        self.descriptors = descriptors
        self.reclaimer = reclaimer
        buffers = BufferPool(meter: meter)
        queues = ByteQueuePool(meter: meter)
        http1 = HTTP1SessionPool(heads: heads)
        http2 = HTTP2Resources(heads: heads, queues: queues)
    }

    /// Forgets what is kept for further calls and nobody has needed since the last trim.
    package func trim() {
        buffers.trim()
        heads.trim()
        queues.trim()
        http1.trim()
        http2.trim()
    }

    // MARK: For who has the context at hand

    // What is reached over two objects, as in `context.queues.give`, is counted; what a method does itself is not.
    package func atEndOfTurn(_ work: any EndOfTurn) { loop.atEndOfTurn(work) }
    func keep(_ object: AnyObject) { loop.keep(object) }
    func acquireQueue() -> ByteQueue { queues.acquire() }
    func release(_ queue: consuming ByteQueue) { queues.release(queue) }
    func acquireHead() -> HTTPHead { heads.acquire() }
    func release(_ head: consuming HTTPHead) { heads.release(head) }
}
