internal import Events
internal import HTTP
internal import Proxy
internal import Time

/// The head and the first message of a response while rules that were written first may still change or replace them.
///
/// Belongs to one call.
struct HeldResponse {
    private(set) var head: HTTPHead?
    private(set) var message: Message?
    private var suspensions: [Suspension] = []
    private var timer: Timer?

    var isEmpty: Bool { suspensions.isEmpty }

    /// Holds the head until its suspension is taken.
    mutating func hold(_ head: HTTPHead) -> Suspension {
        self.head = head
        return suspend()
    }

    /// Holds the first message until its suspension is taken.
    mutating func hold(_ message: Message) -> Suspension {
        self.message = message
        return suspend()
    }

    private mutating func suspend() -> Suspension {
        let suspension = Suspension()
        suspensions.append(suspension)
        return suspension
    }

    /// Calls `action` after a time, or when too much waits behind the held events, unless everything is taken before.
    mutating func limit(to time: Duration, of call: Call, _ action: @escaping () -> Void) {
        suspensions.last?.exceeded = action
        if timer == nil { timer = call.timer(after: time, action) }
    }

    /// Removes everything, and returns the suspensions of the held events.
    ///
    /// A call that resumes one may run hooks that read what is held.
    mutating func takeAll() -> [Suspension] {
        let all = suspensions
        dropAll()
        return all
    }

    /// Returns the suspension of the first held event, which is for the owner to resume; the others wait on behind it.
    mutating func takeFirst() -> Suspension? {
        timer?.cancel()
        timer = nil
        return suspensions.isEmpty ? nil : suspensions.removeFirst()
    }

    /// Removes everything: the call is retried, or the events have left.
    mutating func dropAll() {
        timer?.cancel()
        self = HeldResponse()
    }
}
