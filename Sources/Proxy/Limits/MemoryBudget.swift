private import Synchronization
package import Time

/// What the process holds for calls, for heads that have come in part and for connections: the same object for all workers.
///
/// A quarter of the limit is for connections, and the rest for calls and heads, so that neither take room from the other.
/// Connections with calls stay while they hold at most a half: if that is more than the quarter, calls have that much less.
///
/// Safe on any thread. An unfinished head keeps a `MemoryShare`, and a connection a `ConnectionShare`; what is held for calls,
/// and by nghttp2 for sessions, is counted by `MemoryMeter`s of each worker.
package final class MemoryBudget: Sendable {
    private let held = Atomic(0)
    private let heldByConnections = Atomic(0)
    private let maxBytes: Atomic<Int>

    /// Makes a budget of `limit` bytes.
    package init(limit: Int = .max) {
        maxBytes = Atomic(limit)
    }

    /// The bytes that may be held; what is held already stays when it becomes less.
    package var limit: Int {
        get { maxBytes.load(ordering: .relaxed) }
        set { maxBytes.store(newValue, ordering: .relaxed) }
    }

    /// The bytes that are held for calls and unfinished heads.
    package var used: Int { held.load(ordering: .relaxed) }

    /// The bytes that connections hold: themselves, TLS and sessions of HTTP/2.
    package var connections: Int { heldByConnections.load(ordering: .relaxed) }

    /// The bytes that are held, by connections too.
    package var total: Int { used + connections }

    /// The bytes that connections may hold.
    package var connectionLimit: Int { limit / 4 }

    /// The bytes that calls and unfinished heads may hold: what connections have no right to, and do not hold.
    package var callLimit: Int { limit - max(connectionLimit, connections) }

    // MARK: Calls

    /// Whether more is held for calls than may be: new ones have to be rejected.
    package var isExhausted: Bool { used > callLimit }

    /// Whether a quarter of the limit more is held for calls than may be.
    package var isFarExceeded: Bool { used - callLimit > limit / 4 }

    /// For how long nobody has to have taken anything of what a call holds for the call to be stalled, longest
    /// first; a shorter time counts only where a longer one frees too little.
    package var patience: [Duration] {
        let usual = [.second, 100 * Duration.millisecond]
        return isFarExceeded ? usual + [10 * .millisecond] : usual
    }

    /// The bytes that are to be given up for there to be room for new calls again: an eighth of the limit is.
    package var excess: Int { used - (callLimit - limit / 8) }

    /// The bytes that may still be held for calls.
    var room: Int { max(0, callLimit - used) }

    /// The bytes that a message may hold when it has been read: small ones are read whatever others hold.
    var messageRoom: Int { max(64 * 1024, room) }

    /// Adds to what is held for calls, whether or not that is within the limit; takes away below zero.
    func add(_ bytes: Int) {
        held.add(bytes, ordering: .relaxed)
    }

    /// The bytes from which on no head is waited for that has come in part: a quarter of the limit is left to requests that
    /// come whole.
    private var headLimit: Int { callLimit - limit / 4 }

    /// Whether so much is held that heads which have come in part get no more.
    var isFullForHeads: Bool { used > headLimit }

    /// Adds to what is held for a head, if there is room.
    fileprivate func acquire(_ bytes: Int) -> Bool {
        guard held.add(bytes, ordering: .relaxed).newValue > headLimit else { return true }
        held.subtract(bytes, ordering: .relaxed)
        return false
    }

    fileprivate func release(_ bytes: Int) {
        held.subtract(bytes, ordering: .relaxed)
    }

    // MARK: Connections

    /// Adds to the bytes that connections hold, or subtracts if `bytes` is negative.
    func addConnections(_ bytes: Int) {
        heldByConnections.add(bytes, ordering: .relaxed)
    }

    /// Whether another connection may hold `bytes`, whatever calls hold.
    func hasRoom(forConnection bytes: Int) -> Bool { connectionExcess + bytes <= 0 }

    /// The bytes that connections should release, or less than zero.
    var connectionExcess: Int { connections - connectionLimit }

    /// Whether connections hold so much that even those with calls have to end: half of the limit remains for calls.
    var isFullOfConnections: Bool { connections > limit / 2 }
}

/// What one holder has of a `MemoryBudget`, in steps of 4 KiB, so that threads seldom meet there.
///
/// Its owner releases it before it goes.
struct MemoryShare {
    private static let step = 4096

    /// The bytes that count.
    private(set) var bytes = 0

    /// Has at least `count` bytes from now on.
    ///
    /// - Returns: false if the budget does not have them; the share is as it was then.
    mutating func grow(to count: Int, of budget: MemoryBudget) -> Bool {
        guard count > bytes else { return true }
        let more = (count - bytes + Self.step - 1) / Self.step * Self.step
        guard budget.acquire(more) else { return false }
        bytes += more
        return true
    }

    /// Gives all of it back.
    mutating func release(to budget: MemoryBudget) {
        guard bytes > 0 else { return }
        budget.release(bytes)
        bytes = 0
    }
}
