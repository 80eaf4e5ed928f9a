/// Where the calls go of all routes that name the same chain and the same upstream.
final class Route {
    let chain: CompiledChain
    let destination: Destination

    init(chain: CompiledChain, destination: Destination) {
        self.chain = chain
        self.destination = destination
    }

    /// The upstream whose settings hold; nil where the chain responds, or nobody.
    var upstream: Upstream? { destination.upstream }
}
