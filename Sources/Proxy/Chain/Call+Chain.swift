internal import HTTP

/// A call's way through its chain: requests first to last, answers and the end last to first.
extension Call {
    /// The request's head goes through the links until one decides.
    func passRequestHead() -> Verdict {
        run.begin()
        let links = run.chain.links
        for index in links.indices {
            if let condition = links[index].condition, !condition.holds(for: self) { continue }
            run.enter(index)
            guard links[index].events.contains(.requestHead) else { continue }
            let verdict = run.interceptor(index).requestHead(self)
            if case .next = verdict { continue }
            run.decide(index)
            return verdict
        }
        return .next
    }

    /// The answer's head goes back through the links that the request came to, until one decides.
    ///
    /// An answer that a link has given goes back from there.
    func passResponseHead(_ head: HTTPHead) -> Verdict {
        let start = run.decider ?? run.chain.links.count
        for index in run.chain.onResponseHead where index < start && run.hasEntered(index) {
            let verdict = run.interceptor(index).responseHead(head, self)
            if case .next = verdict { continue }
            run.decide(index)
            return verdict
        }
        return .next
    }

    /// The answer's trailers go back through the links that the request came to; likewise.
    func passResponseTrailers(_ trailers: HTTPHead) {
        let start = run.decider ?? run.chain.links.count
        for index in run.chain.onResponseTrailers where index < start && run.hasEntered(index) {
            _ = run.interceptor(index).responseEnd(ResponseEnd(nil, trailers: trailers), self)
        }
    }

    /// The call is over for all links that it came to.
    func passFinished() {
        for index in run.chain.onFinished where run.hasEntered(index) { run.interceptor(index).finished(self) }
    }
}
