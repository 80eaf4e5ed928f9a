internal import Bytes
internal import HTTP
internal import Time

/// One address of an upstream as a worker sees it: its connections, and the calls that are under way there.
///
/// An upstream whose calls are not spread has one that stands for whatever its name leads to. Belongs to the worker's thread.
final class UpstreamAddress {
    /// Where it is; none if every connection looks for that.
    let address: SocketAddress?
    /// What the process knows of it.
    let state: AddressTable.State?
    /// Of the addresses that are in, those with the lowest number are used.
    var priority: Int
    /// How large its part of the calls is among those of its priority.
    var weight: Int
    /// The value that says where calls with a hash go.
    let hash: UInt64
    /// How many attempts of this worker are under way.
    private(set) var calls = 0
    private(set) var http1: Pool!
    private(set) var http2: Pool!
    /// Whether an attempt of this worker is to tell if it is of use again.
    var isProbed = false
    /// Whether the upstream has it no more.
    private(set) var isLeaving = false

    init(
        _ address: SocketAddress?,
        _ state: AddressTable.State? = nil,
        priority: Int = 0,
        weight: Int = 1,
        of upstream: Upstream
    ) {
        (self.address, self.state, self.priority, self.weight) = (address, state, priority, weight)
        hash = address.map { $0.bytes.span.fnv1a } ?? 0
        http1 = Pool(.http1, of: upstream, at: self)
        http2 = Pool(.http2, of: upstream, at: self)
    }

    /// The pool of connections of one version.
    func pool(_ version: HTTPVersion) -> Pool { version == .http1 ? http1 : http2 }

    /// Whether it gets no calls.
    func isOut(at now: Instant) -> Bool { state?.isOut(at: now) ?? false }

    /// An attempt begins.
    func enter() { calls += 1 }

    /// An attempt is over.
    func leave() { calls -= 1 }

    /// The attempt waits no more.
    func withdraw(_ seeker: any ConnectionSeeker) {
        http1.withdraw(seeker)
        http2.withdraw(seeker)
    }

    /// Makes a connection to see whether that can be done, unless one is being made.
    func probe(_ version: HTTPVersion) {
        isProbed = true
        pool(version).probe()
    }

    /// Makes no new connections for later.
    func drain() {
        http1.drain()
        http2.drain()
    }

    /// The upstream has it no more: gives those that wait away.
    func retire() -> [any ConnectionSeeker] {
        isLeaving = true
        let waiting = http1.removeWaiting() + http2.removeWaiting()
        drain()
        return waiting
    }

    /// Whether a connection is open, or is being made.
    var isInUse: Bool { http1.isInUse || http2.isInUse }

    /// How many connections are open.
    var connections: Int { http1.usage.connections + http2.usage.connections }
}
