internal import Events

/// Has one worker close idle connections of its callers when file descriptors run short, those first that have been idle
/// longest.
///
/// Nothing is noted for that while there are enough: who is idle is looked for when it matters, and then a part of them
/// is closed, so that the next new callers cost nothing. Belongs to the worker's thread.
final class DescriptorKeeper: EndOfTurn {
    /// The part of the idle connections that is closed at a time.
    private static let part = 32
    /// How long it is not looked for idle connections once there were none.
    private static let pause = 10 * Nanoseconds.millisecond

    /// How long a connection is to have been idle: the request of a new one may be on its way.
    private static let grace = 10 * Nanoseconds.millisecond

    let budget: DescriptorBudget
    /// The acceptors whose connections may be closed.
    var acceptors: () -> [Acceptor] = { [] }
    /// Told how many connections have been closed.
    var closed: (Int) -> Void = { _ in }
    private let loop: EventLoop
    private let askOthers: () -> Void
    private var restUntil = Nanoseconds.min
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
    /// - Parameter isLast: whether the connection has one of the last descriptors, so that it stays only if others go.
    /// - Returns: false if it cannot stay.
    func admit(isLast: Bool) -> Bool {
        guard isLast || budget.excess >= 0 else { return budget.take() }
        return (makeRoom() || !isLast) && budget.take()
    }

    /// There is no descriptor left: closes connections when the callbacks of this turn are over.
    func makeRoomSoon() {
        guard !isDue else { return }
        isDue = true
        loop.atEndOfTurn(self)
    }

    func endOfTurn() {
        isDue = false
        makeRoom()
    }

    /// Closes idle connections here, or on other workers if there are none here.
    ///
    /// - Returns: whether some were closed here.
    @discardableResult
    func makeRoom() -> Bool {
        guard loop.now >= restUntil else { return false }
        if closeIdle() > 0 { return true }
        restUntil = loop.now + Self.pause
        askOthers()
        return false
    }

    /// Closes the connections that have been idle longest: as many as are too many, and some more.
    ///
    /// - Returns: how many.
    func closeIdle() -> Int {
        var idle = acceptors().flatMap { $0.connections(idleBefore: loop.now - Self.grace) }
        idle.sort { $0.idleSince < $1.idleSince }
        let most = max(1, budget.excess + 1, idle.count / Self.part)
        var count = 0
        for connection in idle where count < most && connection.closeIfIdle() { count += 1 }
        if count > 0 { closed(count) }
        return count
    }
}
