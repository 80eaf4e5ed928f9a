internal import Events
internal import RPC
internal import Time

/// When the time of a call is over.
struct CallDeadline {
    /// Nil if it has all the time in the world.
    var time: Instant?
    /// Whether that is sooner than the caller says, if it says anything.
    var isOurs = false
    /// What is wrong with the time-out that the caller has brought.
    var error: RPCError?
    var timer: Timer?
}
