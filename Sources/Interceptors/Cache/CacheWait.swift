internal import Bytes
internal import Events
internal import Proxy
internal import Time

/// A call that waits in a cache: for its message, or for another call that fetches the same response.
///
/// Belongs to the worker's thread.
final class CacheWait {
    let suspension = Suspension()
    /// Whether the message is to come.
    var needsMessage: Bool
    /// Whether it waits no more: whoever wakes it comes too late.
    private(set) var isOver = false
    /// The message of the request, if it is one of RPC.
    private(set) var message: [UInt8]?
    /// Since when it waits for another call.
    var since: Instant?
    /// What wakes it.
    var bell: Int?
    /// Ends the wait for another call.
    var leave: (() -> Void)?
    /// Ends the wait when it has taken too long.
    var timer: Timer?

    /// A wait for the message of an RPC, or for another call.
    init(needsMessage: Bool) { self.needsMessage = needsMessage }

    /// Takes the message; false if it is not the only one, or too large.
    func receive(_ payload: Span<UInt8>, limit: Int) -> Bool {
        guard message == nil, payload.count <= limit else { return false }
        message = payload.array
        let count = payload.count
        // The key of a response has it as well.
        suspension.heldBytes = { 2 * count }
        return true
    }

    /// It waits no more.
    func end() {
        isOver = true
        timer.take()?.cancel()
        leave.take()?()
        bell = nil
    }
}
