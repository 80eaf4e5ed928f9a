internal import Events
internal import HTTP

/// What an upstream adds to the heads of its requests, and takes from those of its responses.
extension Call {
    /// Gives the head that is about to leave the defaults and the cookies of its upstream.
    ///
    /// A head that leaves once more is first what it was before: nothing stands in it twice, and the cookies are those of
    /// now. Where something runs for each attempt, it has come back from further up, as it was there.
    func addDefaults() {
        guard let upstream = upstreamLeg.attempt?.upstream, upstream.defaults != nil || upstream.cookies != nil else {
            return
        }
        let request = request
        if run.firstPerAttempt == nil { request.returnToMarkOrSet() }
        upstream.defaults?.add(to: self)
        guard let cookies = upstream.cookies else { return }
        let line = worker.acquireQueue()
        cookies.add(to: request, at: worker.context.loop.clock.wall, line: line)
        worker.release(line)
    }

    /// Puts the cookies that a response sets where its upstream keeps them, if it does.
    func keepCookies(of head: HTTPHead) {
        guard let cookies = upstreamLeg.attempt?.upstream.cookies else { return }
        cookies.store(from: head, to: request, at: worker.context.loop.clock.wall)
    }
}
