/// Where a request goes when it has left its chain.
enum Destination {
    /// To an upstream, over the network.
    case upstream(Upstream)
    /// As far as the upstream's door: the call is only explained.
    case rehearsal(Upstream)
    /// To what stands for an upstream in a rehearsal.
    case rehearsed(Upstream, RehearsedUpstream)
    /// Nowhere: the chain responds, or nobody.
    case none

    /// The upstream whose settings hold.
    var upstream: Upstream? {
        switch self {
        case .upstream(let upstream), .rehearsal(let upstream), .rehearsed(let upstream, _): upstream
        case .none: nil
        }
    }
}
