internal import Bytes
internal import Events
internal import Time

/// Calls that wait for connections of an upstream, all of which other calls have.
struct RoomRequest {
    /// A call that has a connection, and does not move.
    struct Holder {
        let call: Call
        let owner: Owner
        let stall: Stall
    }

    /// Whose calls share the connections of an upstream: a user of a Unix socket, a machine, or on the loopback, where
    /// callers cannot be told apart, one connection.
    enum Owner: Hashable {
        case user(UInt32)
        case machine([UInt8])
        case connection(ObjectIdentifier)
        case martlet
    }

    let upstream: Upstream
    /// The waiting calls, the first one first.
    let waiting: [any ConnectionSeeker]
    /// Those of them whose requests have arrived whole.
    let whole: [any ConnectionSeeker]
    /// The number of waiting calls for which no connection is being made.
    let count: Int
    /// Whether an attempt has a connection that waiting calls could use.
    let holdsConnection: (Attempt) -> Bool
    /// Called with the waiting calls that are to be served first, before other calls end for them.
    let serveFirst: ([any ConnectionSeeker]) -> Void

    /// The calls that end for others, and the waiting calls that are served first for it.
    ///
    /// Calls end whose caller owes the rest of a body or does not read, those first that have not moved for the longest
    /// time. If they are too few, silent calls of an owner end that has more than half of the connections, but only for
    /// calls of others. Calls of others are served first then, and at all times those whose requests have arrived whole.
    func choice(among holders: [Holder], held: [Owner: Int], at now: Instant) -> ([Call], [any ConnectionSeeker]) {
        let still = holders.filter { $0.stall.makesRoom(at: now) }.sorted { $0.stall.since < $1.stall.since }
        let stalled = still.filter { $0.stall.reason != .silence }.prefix(count).map(\.call)
        let missing = count - stalled.count
        let all = held.values.reduce(0, +)
        guard missing > 0, let majority = held.first(where: { $0.value * 2 > all })?.key else {
            return (stalled, whole)
        }
        let others = waiting.filter { Owner(of: $0) != majority }
        let wholeOfOthers = whole.filter { Owner(of: $0) != majority }
        let silent = still.filter { $0.stall.reason == .silence && $0.owner == majority }
        let ended = stalled + silent.prefix(min(missing, others.count)).map(\.call)
        return (ended, wholeOfOthers + others + whole)
    }
}

extension RoomRequest.Owner {
    /// The owner of a waiting call, or of a request of Martlet's own.
    init(of seeker: any ConnectionSeeker) {
        self = (seeker as? Attempt).map { Self(of: $0.call.peer) } ?? .martlet
    }

    /// The owner of the calls of a peer.
    init(of peer: Peer) {
        if let credentials = peer.credentials {
            self = .user(credentials.uid)
        } else if peer.isOnThisMachine {
            self = .connection(ObjectIdentifier(peer))
        } else {
            let text = peer.text
            self = .machine(Array(text[..<(text.lastIndex(of: UInt8(ascii: ":")) ?? text.endIndex)]))
        }
    }
}
