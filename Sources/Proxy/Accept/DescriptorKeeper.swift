internal import Events
internal import Time

/// Has one worker close idle connections of its callers when file descriptors run short, those first that have been idle
/// longest.
///
/// Nothing is noted for that while there are enough: who is idle is looked for when it matters, and then a part of them
/// is closed, so that the next new callers cost nothing. Belongs to the worker's thread.
final class DescriptorKeeper: EndOfTurn {
    /// The part of the idle connections that is closed at a time.
    private static let part = 32
    /// How long it is not looked for idle connections once there were none.
    private static let pause = 10 * Duration.millisecond

    /// How long a connection is to have been idle: the request of a new one may be on its way.
    private static let grace = 10 * Duration.millisecond

    let budget: DescriptorBudget
    /// The acceptors whose connections may be closed.
    var acceptors: () -> [Acceptor] = { [] }
    /// Told how many connections have been closed.
    var closed: (Int) -> Void = { _ in }
    private let loop: EventLoop
    private let askOthers: () -> Void
    private var restUntil = Instant.min
    private var restOfNewUntil = Instant.min
    private var rejectUntil = Instant.min
    private var isDue = false

    /// `askOthers` has the other workers call `closeIdle`.
    init(_ budget: DescriptorBudget, loop: EventLoop, askOthers: @escaping () -> Void) {
        self.budget = budget
        self.loop = loop
        self.askOthers = askOthers
    }

    /// A connection has come: counts it, and closes others if there are too many.
    ///
    /// Not to be called by a connection that has work to do, since it may be another that is closed.
    ///
    /// - Parameters:
    ///   - number: the connection's descriptor. With one of the last it stays only if others are closed at once.
    ///   - mayWait: whether the connection can be asked for again.
    /// - Returns: what becomes of the connection; `waits` only if it may.
    func admit(_ number: Int, mayWait: Bool) -> Admission {
        let excess = budget.excess(at: number)
        let isLast = number >= budget.firstOfLast
        let isScarce = isLast || excess >= 0
        let hasRoom = !isScarce || makeRoom(for: excess + 1, atOnce: isLast) || !isLast
        if hasRoom && budget.acquire() { return .stays }
        if mayWait && loop.now >= rejectUntil && acceptors().contains(where: \.hasIdle) { return .waits }
        if makeRoomOfNew() && budget.acquire() { return .stays }
        // Those behind one that has waited in vain are told at once.
        if !mayWait { rejectUntil = loop.now + Self.pause }
        return .rejected(.noDescriptor)
    }

    /// There is no descriptor left: closes connections when the callbacks of this turn are over.
    func makeRoomSoon() {
        guard !isDue else { return }
        isDue = true
        loop.atEndOfTurn(self)
    }

    func endOfTurn() {
        isDue = false
        makeRoom(for: 1, atOnce: true)
    }

    /// Closes idle connections here, or on other workers if there are none here.
    ///
    /// - Parameters:
    ///   - count: how many are to be closed at the least.
    ///   - atOnce: whether HTTP/2 callers are not waited for, which hear of the end otherwise.
    /// - Returns: whether some were closed here.
    @discardableResult
    func makeRoom(for count: Int, atOnce: Bool) -> Bool {
        guard loop.now >= restUntil else { return false }
        if closeIdle(count, atOnce: atOnce) > 0 { return true }
        restUntil = loop.now + Self.pause
        askOthers()
        return false
    }

    /// Closes connections on which nothing has come yet: the last resort, since they may be in the handshake of TLS.
    private func makeRoomOfNew() -> Bool {
        guard loop.now >= restOfNewUntil else { return false }
        if closeIdle(1, new: true, atOnce: true) > 0 { return true }
        restOfNewUntil = loop.now + Self.pause
        return false
    }

    /// Closes the connections that have been idle longest: `minCount`, and some more, so that the next callers cost nothing.
    ///
    /// - Parameters:
    ///   - minCount: how many to close at least.
    ///   - new: whether also those are closed on which nothing has come yet.
    ///   - atOnce: whether HTTP/2 callers are not waited for.
    /// - Returns: how many were closed.
    func closeIdle(_ minCount: Int, new: Bool = false, atOnce: Bool = false) -> Int {
        var idle = acceptors().flatMap { $0.connections(idleBefore: loop.now - Self.grace, new: new) }
        idle.sort { $0.idleSince < $1.idleSince }
        let target = max(minCount, idle.count / Self.part)
        var count = 0
        for connection in idle where count < target && connection.closeIfIdle(atOnce: atOnce) { count += 1 }
        if count > 0 { closed(count) }
        return count
    }
}
