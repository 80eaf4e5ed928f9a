internal import Bytes
internal import Events
internal import Protocols
internal import Time

/// An interceptor that has suspended an event, and all that waits behind it there, in the order of arrival.
final class HoldQueue {
    /// One event that waits.
    struct HeldEvent {
        enum State {
            /// It waits for its suspension.
            case suspended(Suspension)
            /// It is the end of a response, and waits for the suspension of the head, which was shown late.
            case headSuspended(Suspension)
            /// It waits only for those before it.
            case ready
            /// The message waits until it has been read as JSON, and is handed to the interceptor then.
            case reading(Suspension)
            /// An event with a known verdict other than `next`, which counts after the events before it.
            case delivered(Verdict)
            /// It waits for those before it to be handed to the interceptor, which wants one after the other.
            case undelivered

            /// Whether the interceptor may not get what comes behind it.
            var keepsOthers: Bool {
                switch self {
                case .reading, .delivered, .undelivered: true
                case .suspended, .headSuspended, .ready: false
                }
            }

            /// What it waits for, if it was suspended.
            var suspension: Suspension? {
                switch self {
                case .suspended(let suspension), .headSuspended(let suspension), .reading(let suspension): suspension
                case .ready, .delivered, .undelivered: nil
                }
            }
        }

        let event: ChainEvent
        /// The bytes of the event where it has no place of its own for them.
        let bytes: ByteQueue?
        var state: State
        /// The number of bytes that count for it.
        fileprivate var counted = 0

        init(event: ChainEvent, bytes: ByteQueue?, state: State) {
            (self.event, self.bytes, self.state) = (event, bytes, state)
        }

        /// How many bytes it holds.
        fileprivate var size: Int {
            if case .message(let message) = event { return message.heldBytes }
            return bytes?.count ?? 0
        }
    }

    /// The interceptor's index in the chain.
    let index: Int
    var events: [HeldEvent] = []
    /// Whether what waits is leaving just now.
    var isDraining = false

    init(index: Int) {
        self.index = index
    }

    /// Whether the first event may leave.
    var mayLeave: Bool {
        switch events.first?.state {
        case .suspended(let suspension)?, .headSuspended(let suspension)?: suspension.isResumed
        case .ready?, .delivered?: true
        case .reading?, .undelivered?, nil: false
        }
    }

    /// Whether the interceptor may not get what comes: an event before that waits to be handed to it, or its verdict to count.
    var hasUndelivered: Bool { events.contains { $0.state.keepsOthers } }

    /// The place of the first event that the interceptor has not got yet, unless a verdict before it is to count first.
    var firstUndelivered: Int? {
        guard let place = events.firstIndex(where: { $0.state.keepsOthers }) else { return nil }
        if case .delivered = events[place].state { return nil }
        return place
    }

    /// When the first event began to wait for its suspension.
    fileprivate var began: Instant {
        events.first?.state.suspension?.began ?? .min
    }
}

/// What is held in a chain in one direction of a call; nothing, mostly.
struct DirectionQueues {
    private var queues: [HoldQueue] = [] {
        didSet { heldIndexes = queues.reduce(0) { $0 | 1 << UInt64($1.index) } }
    }
    /// The indexes with a queue, a bit each.
    private(set) var heldIndexes: UInt64 = 0
    /// The events that wait.
    private(set) var events = 0
    /// Their bytes.
    private(set) var bytes = 0
    /// Whether the source is held back until fewer wait.
    var isPaused = false
    /// When an event last left.
    private var lastLeft = Instant.min

    /// Whether nothing is held.
    var isEmpty: Bool { heldIndexes == 0 }

    /// Since when nothing has left; `.max` if nothing waits.
    var waitsSince: Instant {
        queues.reduce(.max) { since, queue in
            let left = max(queue.began, lastLeft)
            // What waits for no suspension is leaving just now.
            return left == .min ? since : min(since, left)
        }
    }

    /// The bytes that suspensions hold beside those of their events.
    var heldBySuspensions: Int {
        queues.reduce(0) { $1.events.reduce($0) { $0 + ($1.state.suspension?.heldBytes() ?? 0) } }
    }

    /// Whether bytes wait that may be a part of a message.
    var holdsBytes: Bool { queues.contains { $0.events.contains { $0.bytes != nil } } }

    /// The queue at an index, if there is one.
    func queue(at index: Int) -> HoldQueue? {
        queues.isEmpty ? nil : queues.first { $0.index == index }
    }

    /// Lets an event wait at an index, behind those that wait there.
    mutating func hold(_ held: HoldQueue.HeldEvent, at index: Int) {
        let queue = queue(at: index) ?? HoldQueue(index: index)
        if queue.events.isEmpty, self.queue(at: index) == nil { queues.append(queue) }
        var held = held
        held.counted = held.size
        queue.events.append(held)
        events += 1
        bytes += held.counted
    }

    /// Counts an event anew, which holds more than when it came.
    ///
    /// - Returns: Whether it holds more.
    mutating func recount(_ queue: HoldQueue, at place: Int) -> Bool {
        let more = queue.events[place].size - queue.events[place].counted
        queue.events[place].counted += more
        bytes += more
        return more > 0
    }

    /// Appends bytes to those that an event at the end of a queue holds.
    ///
    /// - Returns: Whether the last event of the queue holds bytes and waits only for those before it.
    mutating func append(_ added: Span<UInt8>, at index: Int) -> Bool {
        guard let queue = queue(at: index), let last = queue.events.last, case .ready = last.state,
            let held = last.bytes
        else { return false }
        held.append(added)
        queue.events[queue.events.count - 1].counted += added.count
        bytes += added.count
        return true
    }

    /// Returns the end of a response that waits at an index or at those behind it.
    func end(from index: Int) -> ResponseEnd? {
        for queue in queues where queue.index >= index {
            for case .responseEnd(let end) in queue.events.map(\.event) { return end }
        }
        return nil
    }

    /// Takes the first event out of a queue, which goes with its last one.
    mutating func removeFirst(of queue: HoldQueue, at now: Instant) -> HoldQueue.HeldEvent {
        lastLeft = now
        let held = queue.events.removeFirst()
        events -= 1
        bytes -= held.counted
        return held
    }

    /// Forgets a queue at which nothing waits any more.
    mutating func remove(_ queue: HoldQueue) {
        queues.removeAll { $0 === queue }
    }

    /// Forgets what waits at an index and at those behind it, and hands it out.
    mutating func removeAll(from index: Int) -> [HoldQueue.HeldEvent] {
        let removed = queues.filter { $0.index >= index }.flatMap { queue in
            defer { queue.events = [] }
            return queue.events
        }
        queues.removeAll { $0.index >= index }
        events -= removed.count
        for held in removed { bytes -= held.counted }
        return removed
    }
}
