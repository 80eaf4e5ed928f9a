internal import HTTP

/// One call's way through a chain.
struct ChainRun {
    let chain: CompiledChain
    /// The links that the request has come to, a bit each.
    private(set) var entered: UInt64 = 0
    /// The instances made for this call, if any link makes some; in the order of the links.
    private var instances: [any Interceptor] = []
    /// The link whose verdict was not `next`.
    private(set) var decider: Int?

    init(_ chain: CompiledChain) {
        self.chain = chain
    }

    /// The request's head goes through the links, first to last, until one decides.
    mutating func requestHead(_ call: Call) -> Verdict {
        let links = chain.links
        if chain.hasInstances { instances = links.map { $0.interceptor.forCall() } }
        for index in links.indices {
            if let condition = links[index].condition, !condition.holds(for: call) { continue }
            entered |= 1 << UInt64(index)
            guard links[index].events.contains(.requestHead) else { continue }
            let verdict = interceptor(index).requestHead(call)
            if case .next = verdict { continue }
            decider = index
            return verdict
        }
        return .next
    }

    /// The answer's head goes back through the links that the request came to, until one decides.
    ///
    /// An answer that a link has given goes back from there.
    mutating func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        let start = decider ?? chain.links.count
        for index in chain.onResponseHead where index < start && hasEntered(index) {
            let verdict = interceptor(index).responseHead(head, call)
            if case .next = verdict { continue }
            decider = index
            return verdict
        }
        return .next
    }

    /// Whether a link that the request came to wants to see trailers.
    var wantsTrailers: Bool {
        chain.onResponseTrailers.contains(where: hasEntered)
    }

    /// The answer's trailers go back through the links.
    func responseTrailers(_ trailers: HTTPHead, _ call: Call) {
        for index in chain.onResponseTrailers where hasEntered(index) {
            interceptor(index).responseTrailers(trailers, call)
        }
    }

    /// The call is over for all links that it came to.
    func finished(_ call: Call) {
        for index in chain.onFinished where hasEntered(index) { interceptor(index).finished(call) }
    }

    /// The name of the link that decided.
    var deciderName: String? { decider.map { chain.links[$0].name } }

    private func hasEntered(_ index: Int) -> Bool {
        entered & 1 << UInt64(index) != 0
    }

    private func interceptor(_ index: Int) -> any Interceptor {
        instances.isEmpty ? chain.links[index].interceptor : instances[index]
    }
}
