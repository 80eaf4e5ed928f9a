internal import Events
internal import Time

/// Closes connections of one worker when connections hold too much of `limits.memory`.
///
/// Unfinished TLS handshakes and heads go first, then idle connections, then those that have just been accepted, and at last a
/// few idle connections to upstreams. Connections with calls end only if connections hold half of the limit.
/// Belongs to the worker's thread.
final class MemoryReclaimer: EndOfTurn {
    /// The part of the connections found that is closed at a time, so that the next new callers cost nothing.
    private static let part = 32
    /// The time without a search after one that has found too little.
    private static let pause = 10 * Duration.millisecond
    /// The time for which a connection has to be idle or unfinished: what a new one begins with may be on its way.
    private static let grace = 10 * Duration.millisecond
    /// The maximum number of idle connections to upstreams that one search closes.
    private static let maxUpstreams = 8

    let budget: MemoryBudget
    /// The acceptors whose connections may be closed.
    var acceptors: () -> [Acceptor] = { [] }
    /// Closes an idle connection to an upstream, if there is one.
    var closeIdleUpstream: () -> Bool = { false }
    /// Called with the number of callers' connections that were closed.
    var onClose: (Int) -> Void = { _ in }
    /// Called with the numbers of connections and calls that were ended.
    var onEnd: (_ connections: Int, _ calls: Int) -> Void = { _, _ in }
    /// Has all workers end what is stalled, if the budget is exhausted.
    var relieve: () -> Void = {}
    private let loop: EventLoop
    private let askOthers: () -> Void
    private var nextSearch = Instant.min
    private var rejectUntil = Instant.min
    private var isDue = false
    /// Whether the other workers have been asked to close idle connections, before any that is new here closes.
    private var hasAskedOthers = false
    private var timer: Timer?

    /// Creates a reclaimer; `askOthers` has the other workers call `makeRoom`.
    init(_ budget: MemoryBudget, loop: EventLoop, askOthers: @escaping () -> Void) {
        self.budget = budget
        self.loop = loop
        self.askOthers = askOthers
        timer = Timer(on: loop.timers) { [unowned self] in checkSoon() }
    }

    deinit {
        timer?.cancel()
    }

    /// Decides on a new connection, and closes others if connections hold too much.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that the connection is to count for.
    ///   - mayWait: whether the connection can be offered again.
    /// - Returns: what becomes of the connection; `waits` only if it may.
    func admit(_ bytes: Int, mayWait: Bool) -> Admission {
        if budget.hasRoom(forConnection: bytes) { return .stays }
        checkSoon()
        if loop.now >= nextSearch {
            closeWithoutCall { !budget.hasRoom(forConnection: bytes) }
            if budget.hasRoom(forConnection: bytes) { return .stays }
            nextSearch = loop.now + Self.pause
            askOthers()
        }
        if mayWait && loop.now >= rejectUntil { return .waits }
        // Those behind one that has waited in vain are rejected immediately.
        if !mayWait { rejectUntil = loop.now + Self.pause }
        return .rejected(.noMemory)
    }

    /// Closes connections until there is room for a new one, since another worker has none that it could close.
    func makeRoom() {
        closeWithoutCall(upTo: .idle) { !budget.hasRoom(forConnection: ConnectionShare.handshake) }
        checkSoon()
    }

    /// Closes connections while they hold too much, at the end of the turn.
    func checkSoon() {
        if budget.isExhausted { relieve() }
        guard !isDue, budget.connectionExcess > 0 else { return }
        isDue = true
        loop.atEndOfTurn(self)
    }

    func endOfTurn() {
        isDue = false
        guard budget.connectionExcess > 0 else {
            hasAskedOthers = false
            return
        }
        guard loop.now >= nextSearch else { return searchLater() }
        let last: Rank = hasAskedOthers || budget.isFullOfConnections ? .new : .idle
        // A closed session releases its tables only after this turn: close a few, and search again in the next one.
        guard closeWithoutCall(limit: 1, upTo: last, while: { budget.connectionExcess > 0 }) || endCalls() else {
            nextSearch = loop.now + Self.pause
            guard last == .idle else { return }
            hasAskedOthers = true
            askOthers()
            return searchLater()
        }
        isDue = true
        loop.atNextTurn(self)
    }

    private func searchLater() {
        if let timer, !timer.isArmed { timer.arm(at: nextSearch) }
    }

    // MARK: Connections without a call

    /// The order in which connections without a call close.
    private enum Rank: Int { case unfinished, idle, new }

    /// A connection without a call, and the time since which its rank has been the same.
    private struct Candidate {
        let connection: CallerConnection
        let rank: Rank
        let since: Instant

        init(_ connection: CallerConnection, idleBefore time: Instant) {
            self.connection = connection
            since = connection.unfinishedSince ?? connection.idleSince
            if since >= time {
                rank = .new
            } else if connection.unfinishedSince != nil {
                rank = .unfinished
            } else {
                rank = connection.isIdle && !connection.isNew ? .idle : .new
            }
        }

        func close() -> Bool {
            switch rank {
            case .unfinished: connection.closeIfUnfinished()
            case .idle: connection.closeIfIdle(atOnce: true)
            case .new: connection.closeWithoutCall()
            }
        }

        static func < (one: Candidate, other: Candidate) -> Bool {
            (one.rank.rawValue, one.since) < (other.rank.rawValue, other.since)
        }
    }

    /// Closes connections without a call while `isNeeded`: those of callers, and then those to upstreams.
    ///
    /// - Parameters:
    ///   - limit: the number of connections to close, unless a part of callers' connections is more.
    ///   - last: the last rank that is closed.
    ///   - isNeeded: whether to close another connection.
    /// - Returns: whether any were closed.
    @discardableResult
    private func closeWithoutCall(limit: Int = .max, upTo last: Rank = .new, while isNeeded: () -> Bool) -> Bool {
        guard isNeeded() else { return false }
        let time = loop.now - Self.grace
        let found = acceptors().flatMap(\.connectionsWithoutCall).map { Candidate($0, idleBefore: time) }
        let candidates = found.filter { $0.rank.rawValue <= last.rawValue }.sorted(by: <)
        let part = candidates.count / Self.part
        var count = 0
        for candidate in candidates {
            guard count < part || count < limit && isNeeded() else { break }
            if candidate.close() { count += 1 }
        }
        if count > 0 { onClose(count) }
        var upstreams = 0
        while isNeeded(), count + upstreams < min(limit, Self.maxUpstreams), closeIdleUpstream() { upstreams += 1 }
        return count + upstreams > 0
    }

    // MARK: Connections with calls

    /// Ends a part of the connections with calls if connections hold half of the limit: first those whose calls are silent,
    /// of these the largest, and of equal ones the oldest.
    ///
    /// - Returns: whether any were ended.
    private func endCalls() -> Bool {
        let now = loop.now
        // Silence is noted from the first search on, before any of them has to end.
        let busy = acceptors().flatMap(\.openConnections).filter(\.servesCall).map { connection in
            (connection: connection, rank: connection.isSilent(at: now) ? 0 : 1, size: connection.size)
        }
        guard budget.isFullOfConnections else { return false }
        let sorted = busy.sorted {
            ($0.rank, -$0.size, $0.connection.idleSince) < ($1.rank, -$1.size, $1.connection.idleSince)
        }
        let ended = sorted.prefix(max(1, busy.count / Self.part)).compactMap { $0.connection.endCalls() }
        guard !ended.isEmpty else { return false }
        onEnd(ended.count, ended.reduce(0, +))
        return true
    }
}
