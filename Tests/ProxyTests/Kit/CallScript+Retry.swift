import Testing

/// What calls that are retried say and hear.
extension CallScript {
    /// A call with one message goes out, and the upstream has got it.
    func ask(_ fields: (String, String)...) {
        fields.isEmpty ? begin() : begin(fields[0])
        say("hello", end: true)
        accept()
        upstreamReceives("head", "message hello", "end")
    }

    /// The same call comes once more, on a stream of the same connection.
    func askedAgain(stream: Int = 3) {
        accept(on: upstream, stream: stream)
        upstreamReceives("head", "message hello", "end")
    }

    /// The upstream does not know the caller, and says no more: in envelopes the first frame is the end.
    func reject() {
        if style != .connectUnary { respond() }
        fail("unauthenticated", "old", 16, status: 401)
    }

    /// The upstream responds well, and the caller hears just that.
    func settleWell() {
        respond()
        reply("new")
        conclude()
        callerReceives("head", "message new", "end ok")
        expectSilence()
    }

    /// The caller hears the rejection, and nothing else.
    func callerSeesRejection() {
        callerReceives("head", "end unauthenticated old")
        expectSilence()
    }
}

extension ProxyHarness {
    /// How many retries were sent for a reason.
    func retries(_ reason: String) -> Int { retries { $0.contains(#"reason="\#(reason)",result="sent""#) } }

    /// How many retries were skipped with a result.
    func skippedRetries(_ result: String) -> Int { retries { $0.contains(#"result="\#(result)""#) } }

    private func retries(_ isCounted: (String) -> Bool) -> Int {
        let lines = metrics("martlet_retries_total").filter(isCounted)
        return lines.reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }
}
