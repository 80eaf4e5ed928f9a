internal import Events
internal import HTTP
internal import RPC
internal import Telemetry
package import Time

/// A generation that calls go by, for people who ask.
package struct GenerationUsage: Sendable {
    /// Its number.
    package let number: Int
    /// How many calls go by it.
    package private(set) var calls: Int
    /// How long ago it was loaded.
    package private(set) var age: Duration
    /// How long ago a reload replaced it; nil for the one that new calls go by.
    package private(set) var replaced: Duration?

    fileprivate init(_ generation: Generation, at now: Instant) {
        number = generation.number
        calls = generation.calls
        age = now - generation.began
        replaced = generation.replaced.map { now - $0 }
    }

    /// Those of several workers, or with several sets of types, in one list by number.
    package static func merged(_ all: [GenerationUsage]) -> [GenerationUsage] {
        Dictionary(all.map { ($0.number, $0) }) { first, second in
            var both = first
            both.calls += second.calls
            both.age = max(first.age, second.age)
            both.replaced = [first.replaced, second.replaced].compactMap { $0 }.max()
            return both
        }
        .values.sorted { $0.number < $1.number }
    }
}

/// What becomes of calls whose configuration has been replaced.
extension Worker {
    /// The generations, the one that new calls go by included.
    package var generations: [GenerationUsage] {
        GenerationUsage.merged((older.all + [generation]).map { GenerationUsage($0, at: context.loop.now) })
    }

    /// Ends the calls of generations that were replaced at least `limit` ago.
    ///
    /// Their connections end as well: a caller of HTTP/2 is told by GOAWAY, and its other calls come to their end.
    func endCalls(of expired: [Generation], after limit: Duration) {
        let error = RPCError(
            .unavailable,
            "the configuration of this call was replaced \(limit.text) ago (drain.generation); call again"
        )
        var ended = 0
        for acceptor in allAcceptors {
            for connection in acceptor.openConnections {
                ended += connection.endCalls(with: error) { call in expired.contains { $0 === call.generation } }
            }
        }
        guard ended > 0 else { return }
        for _ in 0..<ended { counters.limitHit(.generation) }
        logLimiter.note(
            "drain.generation is reached; ending calls of an older configuration",
            about: "",
            [
                ("calls", "\(ended)"),
                ("generations", expired.map { "\($0.number)" }.joined(separator: ",")),
            ]
        )
    }
}

extension CallerConnection {
    /// Ends some of its calls with an error, and the connection with its last call.
    ///
    /// - Returns: how many calls have ended.
    fileprivate func endCalls(with error: RPCError, where isMeant: (Call) -> Bool) -> Int {
        var calls: [Call] = []
        forEachCall { if isMeant($0) { calls.append($0) } }
        guard !calls.isEmpty else { return 0 }
        // First, so that a response of HTTP/1.1 says that the connection closes.
        drain()
        calls.removeAll(where: \.isOver)
        for call in calls { call.fail(error, by: .martlet) }
        return calls.count
    }
}
