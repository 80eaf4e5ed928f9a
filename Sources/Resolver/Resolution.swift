public import Bytes

/// What a name stands for, and how long that may be believed.
public struct Resolution: Equatable, Sendable {
    /// The addresses, with the port asked for, the best to try first (RFC 6724); never empty.
    public let addresses: [SocketAddress]
    /// For how many seconds the addresses may be used without asking again, 1 to 300.
    public let timeToLive: Int

    init(addresses: [SocketAddress], timeToLive: Int) {
        self.addresses = addresses
        // Not 0: a name asked for on every connection would load the DNS server. Not a day: hosts do move.
        self.timeToLive = min(max(timeToLive, 1), 300)
    }
}
