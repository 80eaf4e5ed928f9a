internal import Time

/// Which addresses will do for an attempt.
struct AddressFilter {
    private let attempt: Attempt
    private let now: Instant
    /// Whether those that the call has tried will not do.
    var isForUntried = false
    /// Whether those that are out will do as well.
    var allowsOut = false

    init(for attempt: Attempt, at now: Instant) { (self.attempt, self.now) = (attempt, now) }

    /// Whether an address will do.
    func fits(_ address: UpstreamAddress) -> Bool {
        (allowsOut || !address.isOut(at: now)) && attempt.placement?.hasFailed(at: address) != true
            && !(isForUntried && attempt.call.upstreamLeg.hasTried(address))
    }
}
