internal import RPC
internal import Telemetry

/// What an attempt has to do with the addresses of its upstream, if that has several.
extension Attempt {
    /// It goes to an address.
    func enter(_ address: UpstreamAddress, isProbe: Bool) {
        placement?.enter(address, isProbe: isProbe)
        call.upstreamLeg.enter(address)
    }

    /// What has come of it says whether its address is of use; only the first word counts.
    ///
    /// - Parameter failure: what has failed, for people; none if nothing has.
    func report(_ failure: @autoclosure () -> String?) {
        guard let balancer = upstream.balancer, balancer.hearsOutcomes, let address = placement?.report()
        else { return }
        balancer.report(address, failure(), wasProbe: placement?.isProbe ?? false)
    }

    /// A response has ended with this code.
    func report(code: RPCCode) {
        guard let balancer = upstream.balancer else { return }
        report(balancer.isFailure(code: code) ? "code \(code.name)" : nil)
    }

    /// A response with this HTTP status has begun.
    func report(status: Int) {
        guard let balancer = upstream.balancer, balancer.isFailure(status: status) else { return }
        report("HTTP status \(status)")
    }
}
