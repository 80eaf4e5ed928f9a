/// Where the calls go of all routes that name the same chain and the same upstream.
final class Route {
    let chain: CompiledChain
    /// Nil where the chain responds, or nobody.
    let upstream: Upstream?

    init(chain: CompiledChain, upstream: Upstream?) {
        self.chain = chain
        self.upstream = upstream
    }
}
