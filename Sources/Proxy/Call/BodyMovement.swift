internal import Time

/// The time for which the bodies of a call have not moved, measured now and then: bytes that pass cost nothing.
struct BodyMovement {
    private var bytes = -1
    /// The time of the first look that found as many bytes as the last one, or `.max` before the first look.
    private(set) var since = Instant.max
    /// Whether the call has waited for a connection, and nothing has passed since.
    private(set) var hasWaited = false

    /// Notes how many bytes have passed until now.
    mutating func note(_ bytes: Int, at now: Instant) {
        guard bytes != self.bytes else { return }
        if self.bytes >= 0 { hasWaited = false }
        self.bytes = bytes
        since = now
    }

    /// Counts the time from now on: the bodies did not have to move until now.
    mutating func restart(at now: Instant, waitsForConnection: Bool) {
        bytes = -1
        since = now
        hasWaited = waitsForConnection
    }
}
