internal import Time

/// How long the bodies of a call have not moved, found by looking now and then: bytes that pass cost nothing.
struct BodyMovement {
    private var bytes = -1
    /// The time of the first look that found as many bytes as the last one, or `.max` before the first look.
    private(set) var since = Instant.max
    /// Whether nothing has passed since the last restart.
    private(set) var wasHeldBack = false

    /// Notes how many bytes have passed until now.
    mutating func note(_ bytes: Int, at now: Instant) {
        guard bytes != self.bytes else { return }
        if self.bytes >= 0 { wasHeldBack = false }
        self.bytes = bytes
        since = now
    }

    /// Counts the time from now on: the bodies did not have to move until now.
    mutating func restart(at now: Instant) {
        bytes = -1
        since = now
        wasHeldBack = true
    }
}
