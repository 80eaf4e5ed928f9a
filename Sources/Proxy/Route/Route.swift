/// Where the calls go that a route takes.
final class Route {
    /// Its number in the file, from 0; nil for the one that takes what no other does.
    let number: Int?
    /// The calls it takes; nil for all.
    let condition: Condition?
    let chain: CompiledChain
    /// Nil where the chain answers, or nobody.
    let upstream: Upstream?

    init(number: Int?, condition: Condition?, chain: CompiledChain, upstream: Upstream?) {
        self.number = number
        self.condition = condition
        self.chain = chain
        self.upstream = upstream
    }
}
