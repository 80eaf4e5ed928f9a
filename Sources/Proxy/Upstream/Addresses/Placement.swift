internal import Bytes
internal import RPC
internal import Time

/// Where an attempt goes among the addresses of an upstream, and what becomes of it there.
///
/// Belongs to the worker's thread.
final class Placement {
    /// The call, which may have tried some addresses before.
    unowned let call: Call
    private unowned let balancer: Balancer
    /// Where the attempt goes, or has gone.
    private(set) var address: UpstreamAddress?
    /// Whether it tells if an address that was out is of use again.
    private(set) var isProbe = false
    private var isUnderWay = false
    private var isReported = false
    /// Those that this attempt could not be connected to.
    private var failed: [UpstreamAddress] = []
    /// Since when it waits for an address.
    var waitsSince = Instant.max

    /// Whether only an address will do that the call has not tried.
    let needsUntried: Bool

    init(of call: Call, by balancer: Balancer, needsUntried: Bool) {
        (self.call, self.balancer, self.needsUntried) = (call, balancer, needsUntried)
    }

    /// The attempt goes to an address.
    func enter(_ address: UpstreamAddress, isProbe: Bool) {
        leave()
        (self.address, self.isProbe, isUnderWay) = (address, isProbe, true)
        address.enter()
        if let place = address.address { call.upstreamLeg.addresses.append(place) }
    }

    /// The attempt is there no more.
    func leave(hasFailed: Bool = false) {
        guard isUnderWay, let address else { return }
        isUnderWay = false
        address.leave()
        if hasFailed { failed.append(address) }
    }

    /// Whether the attempt could not be connected to an address.
    func hasFailed(at address: UpstreamAddress) -> Bool { failed.contains { $0 === address } }

    /// It has waited: no address counts as one that has failed.
    func forgetFailures() { failed = [] }

    /// Whether the call has tried an address already.
    func hasTried(_ address: UpstreamAddress) -> Bool {
        address.address.map(call.upstreamLeg.addresses.contains) ?? false
    }

    /// What has come of the attempt says whether the address is of use; only the first word counts.
    ///
    /// - Parameter failure: what has failed, for people; none if nothing has.
    func report(_ failure: @autoclosure () -> String?) {
        guard !isReported, let address else { return }
        isReported = true
        balancer.report(address, failure(), wasProbe: isProbe)
    }

    /// A response has ended with this code.
    func report(code: RPCCode) {
        report(balancer.isFailure(code: code) ? "code \(code.name)" : nil)
    }

    /// A response with this HTTP status has begun.
    func report(status: Int) {
        guard balancer.isFailure(status: status) else { return }
        report("HTTP status \(status)")
    }
}
