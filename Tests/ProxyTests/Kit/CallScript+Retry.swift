import Testing

/// What calls that are tried again say and hear.
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
    func refuse() {
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

    /// The caller hears the refusal, and nothing else.
    func callerHearsRefusal() {
        callerReceives("head", "end unauthenticated old")
        expectSilence()
    }
}

extension ProxyHarness {
    /// How often calls were tried again for a reason.
    func retries(_ reason: String) -> Int { counter("martlet_retries_total", reason) }

    /// How often they were not, for a reason.
    func skippedRetries(_ reason: String) -> Int { counter("martlet_retry_skipped_total", reason) }

    private func counter(_ name: String, _ reason: String) -> Int {
        let line = metrics("\(name){reason=\"\(reason)\"}").first
        return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
    }
}
