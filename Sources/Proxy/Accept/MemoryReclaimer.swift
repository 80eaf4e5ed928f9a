internal import Events
internal import Time

/// Closes connections of one worker when connections hold too much of `limits.memory`.
///
/// Idle connections and unfinished TLS handshakes go first, those that have been so longest, then idle connections to
/// upstreams. For a new caller, connections go as well that have just been accepted or whose head has arrived in part.
/// Belongs to the worker's thread.
final class MemoryReclaimer: EndOfTurn {
    /// The part of the connections found that is closed at a time, so that the next new callers cost nothing.
    private static let part = 32
    /// The time without a search after one that has found too little.
    private static let pause = 10 * Duration.millisecond
    /// The time for which a connection has to be idle: the request of a new one may be on its way.
    private static let grace = 10 * Duration.millisecond

    let budget: MemoryBudget
    /// The acceptors whose connections may be closed.
    var acceptors: () -> [Acceptor] = { [] }
    /// Closes an idle connection to an upstream, if there is one.
    var closeIdleUpstream: () -> Bool = { false }
    /// Called with the number of callers' connections that were closed.
    var onClose: (Int) -> Void = { _ in }
    /// Has all workers end what is stalled, if the budget is exhausted.
    var relieve: () -> Void = {}
    private let loop: EventLoop
    private let askOthers: () -> Void
    private var nextSearch = Instant.min
    private var rejectUntil = Instant.min
    private var isDue = false

    /// Creates a reclaimer; `askOthers` has the other workers call `makeRoom`.
    init(_ budget: MemoryBudget, loop: EventLoop, askOthers: @escaping () -> Void) {
        self.budget = budget
        self.loop = loop
        self.askOthers = askOthers
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
            closeIdle { !budget.hasRoom(forConnection: bytes) }
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

    /// Closes idle connections until there is room for a new one, since another worker has none that it could close.
    func makeRoom() {
        closeIdle { !budget.hasRoom(forConnection: ConnectionShare.handshake) }
    }

    /// Closes connections without a call while connections hold too much, at the end of the turn.
    func checkSoon() {
        if budget.isExhausted { relieve() }
        guard !isDue, budget.connectionExcess > 0 else { return }
        isDue = true
        loop.atEndOfTurn(self)
    }

    func endOfTurn() {
        isDue = false
        // A closed session releases its tables only after this turn: close a few, and look again in the next one.
        let isNeeded = { [budget] in budget.connectionExcess > 0 }
        let hasClosed = closeIdle(limit: 1, while: isNeeded) || closeWithoutCall(limit: 1, while: isNeeded)
        guard hasClosed, isNeeded() else { return }
        isDue = true
        loop.atNextTurn(self)
    }

    /// Closes idle connections while `isNeeded`: those of callers, and then those to upstreams.
    ///
    /// - Parameters:
    ///   - limit: the number of connections to close, unless a part of callers' idle ones is more.
    ///   - isNeeded: whether to close another connection.
    /// - Returns: whether any were closed.
    @discardableResult
    private func closeIdle(limit: Int = .max, while isNeeded: () -> Bool) -> Bool {
        guard isNeeded() else { return false }
        let before = loop.now - Self.grace
        let idle = acceptors().flatMap { $0.connections(idleBefore: before, new: false) }
        var count = close(idle, limit: limit, while: isNeeded) { $0.closeIfIdle(atOnce: true) }
        while isNeeded(), count < limit, closeIdleUpstream() { count += 1 }
        return count > 0
    }

    /// Closes connections without a call while `isNeeded`, although they are new or a head has arrived in part.
    @discardableResult
    private func closeWithoutCall(limit: Int = .max, while isNeeded: () -> Bool) -> Bool {
        guard isNeeded() else { return false }
        let candidates = acceptors().flatMap(\.connectionsWithoutCall)
        return close(candidates, limit: limit, while: isNeeded) { $0.closeWithoutCall() } > 0
    }

    /// Closes those of the connections that have been idle longest, and reports the number of them.
    private func close(
        _ connections: [CallerConnection],
        limit: Int,
        while isNeeded: () -> Bool,
        by close: (CallerConnection) -> Bool
    ) -> Int {
        let part = connections.count / Self.part
        var count = 0
        for connection in connections.sorted(by: { $0.idleSince < $1.idleSince }) {
            guard count < part || count < limit && isNeeded() else { break }
            if close(connection) { count += 1 }
        }
        if count > 0 { onClose(count) }
        return count
    }
}
