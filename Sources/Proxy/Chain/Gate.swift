internal import Bytes
internal import Events
internal import Protocols

/// An interceptor that has suspended an event, and all that waits behind it there, in the order of arrival.
final class Gate {
    /// One event that waits.
    struct Slot {
        enum State {
            /// It waits for its suspension.
            case suspended(Suspension)
            /// It is the end of a response, and waits for the suspension of the head, which was shown late.
            case headSuspended(Suspension)
            /// It waits only for those before it.
            case ready
            /// It waits for those before it to be handed to the interceptor, which wants one after the other.
            case undelivered

            /// What it waits for, if it was suspended.
            var suspension: Suspension? {
                switch self {
                case .suspended(let suspension), .headSuspended(let suspension): suspension
                case .ready, .undelivered: nil
                }
            }
        }

        let event: ChainEvent
        /// The bytes of the event where it has no place of its own for them.
        let bytes: ByteQueue?
        var state: State

        /// How many bytes it holds.
        var size: Int {
            if case .message(let message) = event { return message.heldBytes }
            return bytes?.count ?? 0
        }
    }

    /// The interceptor's place in the chain.
    let place: Int
    var slots: [Slot] = []
    /// Whether what waits is leaving just now.
    var isDraining = false

    init(place: Int) {
        self.place = place
    }

    /// When the first event began to wait for its suspension.
    fileprivate var began: Nanoseconds {
        slots.first?.state.suspension?.began ?? .min
    }
}

/// What is held in a chain in one direction of a call; nothing, mostly.
struct Lane {
    private var gates: [Gate] = [] {
        didSet { gated = gates.reduce(0) { $0 | 1 << UInt64($1.place) } }
    }
    /// The places of the gates, a bit each.
    private(set) var gated: UInt64 = 0
    /// The events that wait.
    private(set) var events = 0
    /// Their bytes.
    private(set) var bytes = 0
    /// Whether the source is held back until fewer wait.
    var isPaused = false
    /// When an event last left.
    private var lastLeft = Nanoseconds.min

    /// Whether nothing is held.
    var isEmpty: Bool { gated == 0 }

    /// Since when nothing has left; `.max` if nothing waits.
    var waitsSince: Nanoseconds {
        gates.reduce(.max) { since, gate in
            let left = max(gate.began, lastLeft)
            // What waits for no suspension is leaving just now.
            return left == .min ? since : min(since, left)
        }
    }

    /// The bytes that suspensions hold beside those of their events.
    var heldBySuspensions: Int {
        gates.reduce(0) { $1.slots.reduce($0) { $0 + ($1.state.suspension?.heldBytes() ?? 0) } }
    }

    /// Whether bytes wait that may be a part of a message.
    var holdsBytes: Bool { gates.contains { $0.slots.contains { $0.bytes != nil } } }

    /// The gate at a place, if there is one.
    func gate(at place: Int) -> Gate? {
        gates.isEmpty ? nil : gates.first { $0.place == place }
    }

    /// Lets an event wait at a place, behind those that wait there.
    mutating func hold(_ slot: Gate.Slot, at place: Int) {
        let gate = gate(at: place) ?? Gate(place: place)
        if gate.slots.isEmpty, self.gate(at: place) == nil { gates.append(gate) }
        gate.slots.append(slot)
        events += 1
        bytes += slot.size
    }

    /// Takes the first event out of a gate, which goes with its last one.
    mutating func takeFirst(of gate: Gate, at now: Nanoseconds) -> Gate.Slot {
        lastLeft = now
        let slot = gate.slots.removeFirst()
        events -= 1
        bytes -= slot.size
        return slot
    }

    /// Forgets a gate at which nothing waits any more.
    mutating func remove(_ gate: Gate) {
        gates.removeAll { $0 === gate }
    }

    /// Forgets what waits at a place and at those behind it, and hands it out.
    mutating func removeAll(from place: Int) -> [Gate.Slot] {
        let slots = gates.filter { $0.place >= place }.flatMap { gate in
            defer { gate.slots = [] }
            return gate.slots
        }
        gates.removeAll { $0.place >= place }
        events -= slots.count
        for slot in slots { bytes -= slot.size }
        return slots
    }
}

/// What is held in a chain in both directions of a call.
struct Lanes {
    var request = Lane()
    var response = Lane()

    /// One of them; not for the way of every call.
    subscript(direction: Direction) -> Lane {
        get { direction == .request ? request : response }
        _modify {
            switch direction {
            case .request: yield &request
            case .response: yield &response
            }
        }
    }

    /// The places in a direction at which something is held, a bit each.
    func gated(_ direction: Direction) -> UInt64 {
        direction == .request ? request.gated : response.gated
    }
}
