/// The bytes that one connection counts for in a `MemoryBudget`, its calls aside.
///
/// They are fixed for each kind of connection, since a count of what OpenSSL allocates would cost more than it tells. The
/// owner releases the share when the connection closes.
struct ConnectionShare {
    /// A connection in clear text, with the part of the kernel's memory that its control group is charged for.
    static let plain = 4 * 1024
    /// A connection whose TLS handshake is not over: OpenSSL holds three buffers for it.
    static let handshake = 44 * 1024
    /// A connection in TLS, without a certificate of the peer.
    static let secured = 20 * 1024
    /// A session of HTTP/2, without what `HTTP2Resources.meter` counts.
    static let http2 = 6 * 1024

    /// The bytes that count.
    private(set) var bytes = 0

    /// Counts `count` bytes from now on, instead of those before.
    mutating func change(to count: Int, of budget: MemoryBudget) {
        guard count != bytes else { return }
        budget.addConnections(count - bytes)
        bytes = count
    }

    /// Counts `count` bytes more.
    mutating func grow(by count: Int, of budget: MemoryBudget) {
        change(to: bytes + count, of: budget)
    }

    /// Counts nothing any more.
    mutating func release(to budget: MemoryBudget) {
        change(to: 0, of: budget)
    }
}
