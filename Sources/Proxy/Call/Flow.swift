internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import Time

/// One direction of a call behind its head: how the body is looked at, and what of it is under way.
struct Flow {
    /// Its end has come; kept for the request alone.
    var hasArrived = false
    /// Whether a body, which may be empty, follows the head; kept for the request alone.
    var hasBody = false
    /// How the body is looked at, once that is known.
    var form: BodyForm?
    /// Finds the messages of a body that has envelopes; elsewhere while hooks run, as those may end the call.
    var reader: MessageReader?
    /// The object that the next message uses, if no one keeps the last one.
    var message: Message?
    /// How many messages had come when one was kept by somebody.
    var keptMessages = 0
    /// The bare message, as far as it has come.
    var bare: ByteQueue?
    /// When a piece last came of what is held until more of it comes.
    var pieceCame = Instant.min
    /// What has come and is not looked at yet.
    var rest: BodyRest?
    /// The trailers, once they have come.
    var trailers: HTTPHead?
    /// What waits in the chain.
    var queues = DirectionQueues()

    /// The bytes that are held.
    var heldBytes: Int {
        (reader?.heldBytes ?? 0) + (bare?.capacity ?? 0) + (rest?.bytes.capacity ?? 0) + queues.bytes
            + queues.heldBySuspensions
    }

    /// Nobody looks at messages any more.
    mutating func releaseMessages() {
        // The reader is large: to store nil over nil takes fifty instructions.
        if reader != nil { reader = nil }
        message = nil
    }

    /// Since when what has come waits for the rest of it; `.max` if nothing does.
    var pieceWaitsSince: Instant {
        reader?.heldBytes ?? 0 > 0 || bare != nil ? pieceCame : .max
    }
}

/// Both directions of a call.
struct Flows {
    var request = Flow()
    var response = Flow()

    /// One of them.
    subscript(direction: Direction) -> Flow {
        // Not `_read`, which would allocate a frame that has room for a flow; inlined, this loads what is asked for alone.
        @inline(__always) get { direction == .request ? request : response }
        _modify {
            switch direction {
            case .request: yield &request
            case .response: yield &response
            }
        }
    }

    /// The indexes of the chain at which something of a direction waits, a bit each.
    func heldIndexes(_ direction: Direction) -> UInt64 {
        direction == .request ? request.queues.heldIndexes : response.queues.heldIndexes
    }
}
