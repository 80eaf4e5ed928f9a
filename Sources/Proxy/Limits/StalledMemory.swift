package import Time

/// What a stalled call holds, or a stalled connection: its end would free that.
package struct StalledMemory: Sendable {
    /// How many bytes it holds.
    package let bytes: Int
    /// How long nothing of them has moved.
    package let time: Duration

    /// Makes the record of one call or connection.
    package init(bytes: Int, time: Duration) {
        self.bytes = bytes
        self.time = time
    }

    /// Which calls end: on each worker, the largest of those that have been stalled for a time.
    package struct Choice: Equatable {
        /// For how long the calls have been stalled at least.
        package let time: Duration
        /// How many end, by the index of the worker.
        package let counts: [Int: Int]
    }

    /// Chooses calls whose end frees at least `bytes`, as few as possible.
    ///
    /// - Parameters:
    ///   - stalled: the calls of each worker, by the index of the worker.
    ///   - bytes: how much is to be freed.
    ///   - patience: how long calls may be stalled, longest first. A shorter time counts only where a longer one frees
    ///     too little.
    /// - Returns: the choice. If no time frees enough, it is all calls of the longest time that frees anything; nil if there
    ///   is none.
    package static func choice(
        of stalled: [Int: [StalledMemory]],
        freeing bytes: Int,
        patience: [Duration]
    ) -> Choice? {
        guard bytes > 0 else { return nil }
        let all = stalled.flatMap { index, calls in calls.map { (index: index, call: $0) } }
        let sorted = all.sorted { $0.call.bytes > $1.call.bytes }
        var best: Choice?
        for time in patience {
            var left = bytes
            var counts: [Int: Int] = [:]
            for (index, call) in sorted where left > 0 && call.time >= time {
                left -= call.bytes
                counts[index, default: 0] += 1
            }
            let choice = Choice(time: time, counts: counts)
            if left <= 0 { return choice }
            if best == nil, !counts.isEmpty { best = choice }
        }
        return best
    }
}
