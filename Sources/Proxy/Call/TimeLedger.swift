internal import Configuration
internal import Events
internal import Time

/// Where the time of a call goes, from the arrival of its head on.
///
/// A call is in one phase at a time; all of them draw on the same deadline.
struct TimeLedger {
    /// What a call is at.
    enum Phase: Int, CaseIterable {
        /// Its interceptors work, or the request is not complete.
        case chain
        /// An interceptor lets it wait: for a credential, or before a retry.
        case waiting
        /// It has no connection to its upstream yet.
        case connecting
        /// The upstream has it.
        case attempt
    }

    private var phase = Phase.chain
    /// When the phase began.
    private(set) var since: Instant
    private var times: (chain: Duration, waiting: Duration, connecting: Duration, attempt: Duration)
    /// The link at which the call has waited last.
    private(set) var index: Int?

    /// Begins with the chain.
    init(at now: Instant) {
        since = now
        times = (.zero, .zero, .zero, .zero)
    }

    /// The call goes over to another phase.
    mutating func enter(_ next: Phase, at now: Instant) {
        add(now - since)
        since = now
        phase = next
    }

    /// The call waits at a link from now on.
    mutating func wait(_ index: Int, at now: Instant) {
        enter(.waiting, at: now)
        self.index = index
    }

    private mutating func add(_ time: Duration) {
        switch phase {
        case .chain: times.chain += time
        case .waiting: times.waiting += time
        case .connecting: times.connecting += time
        case .attempt: times.attempt += time
        }
    }

    /// What the call is at.
    var current: Phase { phase }

    /// How long the call has been without a connection, up to the last that it has got.
    var connecting: Duration { times.connecting }

    /// How long the call has been at each thing until now; what took less than a millisecond is left out.
    func spent(at now: Instant) -> [(phase: Phase, time: Duration)] {
        var all = self
        all.add(now - since)
        let times = [all.times.chain, all.times.waiting, all.times.connecting, all.times.attempt]
        return zip(Phase.allCases, times).filter { $1 >= .millisecond }.map { ($0, $1) }
    }
}

extension Call {
    /// Where its time has gone, in words; empty if there was none to speak of.
    var spentText: String {
        let upstream = route.upstream?.settings.name ?? "its upstream"
        let tries = record.attempts > 1 ? "\(record.attempts) attempts" : "an attempt"
        return ledger.spent(at: worker.context.loop.now).map { phase, time in
            let name = ledger.index.map { run.chain.links[$0].name } ?? ""
            switch phase {
            case .chain: return "\(time.secondsText) s in the chain"
            case .waiting: return "\(time.secondsText) s waiting in interceptor \(name)"
            case .connecting: return "\(time.secondsText) s waiting for a connection to \(upstream)"
            case .attempt: return "\(time.secondsText) s in \(tries) on \(upstream)"
            }
        }
        .joined(separator: ", ")
    }
}

extension Duration {
    /// Seconds with three decimals, cut: `1.204`.
    fileprivate var secondsText: String {
        let milliseconds = String(self / .millisecond % 1000)
        return "\(self / .second).\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds)"
    }
}
