internal import Time

/// Where an attempt is among the addresses of an upstream, and what has become of it there.
struct Placement {
    /// Whether only an address will do that the call has not tried.
    let needsUntried: Bool
    /// Where the attempt goes, or has gone.
    private(set) var address: UpstreamAddress?
    /// Whether it tells if an address that was out is of use again.
    private(set) var isProbe = false
    /// Since when it waits for an address.
    private(set) var waitsSince = Instant.max
    /// Whether it waits since no address is known yet.
    private var waitsForName = false
    /// How long it has waited for the name of the upstream to be looked up.
    private(set) var nameTime = Duration.zero
    private var isUnderWay = false
    private var isReported = false
    /// Those that this attempt could not be connected to.
    private var failed: [UpstreamAddress] = []

    init(needsUntried: Bool) { self.needsUntried = needsUntried }

    /// It waits for an address from now on.
    mutating func wait(since now: Instant, forName: Bool) { (waitsSince, waitsForName) = (now, forName) }

    /// There are addresses: the attempt may go to one, or wait for a better one.
    mutating func addressesAreKnown(at now: Instant) {
        if waitsForName { nameTime = now - waitsSince }
        waitsForName = false
    }

    /// The attempt goes to an address.
    mutating func enter(_ address: UpstreamAddress, isProbe: Bool) {
        leave()
        (self.address, self.isProbe, isUnderWay) = (address, isProbe, true)
        address.enter()
    }

    /// The attempt is there no more.
    mutating func leave(hasFailed: Bool = false) {
        guard isUnderWay, let address else { return }
        isUnderWay = false
        address.leave()
        if hasFailed { failed.append(address) }
    }

    /// How many addresses the attempt could not be connected to.
    var failureCount: Int { failed.count }

    /// Whether the attempt could not be connected to an address.
    func hasFailed(at address: UpstreamAddress) -> Bool { failed.contains { $0 === address } }

    /// It has waited: no address counts as one that has failed.
    mutating func removeFailures() { failed = [] }

    /// Whether what has come of the attempt says something of its address: only the first word does.
    mutating func report() -> UpstreamAddress? {
        guard !isReported, let address else { return nil }
        isReported = true
        return address
    }
}
