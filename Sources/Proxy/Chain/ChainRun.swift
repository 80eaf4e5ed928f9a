/// How far one call has come in its chain.
///
/// The way itself is in Call+Chain.swift: a hook may end the call, so nothing may hold this value while one runs.
struct ChainRun {
    let chain: CompiledChain
    /// The links that the request has come to, a bit each.
    private var entered: UInt64 = 0
    /// The instances made for this call, if any link makes some; in the order of the links.
    private var instances: [any Interceptor] = []
    /// The link whose verdict was not `next`.
    private(set) var decider: Int?

    init(_ chain: CompiledChain) {
        self.chain = chain
    }

    /// The request sets out: each link that has instances makes one.
    mutating func begin() {
        if chain.hasInstances { instances = chain.links.map { $0.interceptor.forCall() } }
    }

    /// The request has come to a link.
    mutating func enter(_ index: Int) {
        entered |= 1 << UInt64(index)
    }

    /// A link has decided.
    mutating func decide(_ index: Int) {
        decider = index
    }

    /// Whether the request has come to the link.
    func hasEntered(_ index: Int) -> Bool {
        entered & 1 << UInt64(index) != 0
    }

    /// The interceptor of a link, as this call has it.
    func interceptor(_ index: Int) -> any Interceptor {
        instances.isEmpty ? chain.links[index].interceptor : instances[index]
    }

    /// The name of the link that decided.
    var deciderName: String? { decider.map { chain.links[$0].name } }

    /// Whether a link that the request came to wants to see trailers.
    var wantsTrailers: Bool {
        chain.onResponseTrailers.contains(where: hasEntered)
    }
}
