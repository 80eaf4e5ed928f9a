internal import Protocols

/// The hooks of a call that run, and the suspensions that they have resumed, which are looked at after them.
struct RunningHooks {
    /// How many run within each other.
    private var depth = 0
    private var resumed: [(Direction, Int)] = []

    mutating func enter() { depth += 1 }

    /// The last that has begun is over.
    ///
    /// - Returns: what is to be looked at now; nothing while others run.
    mutating func leave() -> [(Direction, Int)] {
        depth -= 1
        guard depth == 0, !resumed.isEmpty else { return [] }
        defer { resumed = [] }
        return resumed
    }

    /// What waited at a link has been resumed.
    ///
    /// - Returns: whether it can be looked at now; if not, it is noted for later.
    mutating func mayDrain(_ direction: Direction, _ index: Int) -> Bool {
        guard depth > 0 else { return true }
        resumed.append((direction, index))
        return false
    }
}
