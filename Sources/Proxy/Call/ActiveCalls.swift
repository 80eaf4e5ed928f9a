internal import Bytes
internal import HTTP
internal import Telemetry
package import Time

/// The calls that are under way, for people who ask.
extension Worker {
    /// The most calls of a worker that are told.
    private static let maxActiveCalls = 1000

    /// The calls under way, the oldest first: when each arrived, and a line of JSON.
    package var activeCalls: [(time: Instant, text: [UInt8])] {
        var calls: [Call] = []
        forEachCall { calls.append($0) }
        let formatter = TimestampFormatter()
        let queue = ByteQueue()
        return calls.sorted { $0.startTime < $1.startTime }.prefix(Self.maxActiveCalls).map { call in
            var line = AccessLogLine(about: call, to: queue, formatter: formatter)
            line.describeProgress(call)
            line.end()
            let text = queue.readable.array
            queue.removeAll()
            return (call.startTime, text)
        }
    }
}

extension Worker {
    /// Calls `body` with each call in progress.
    func forEachCall(_ body: (Call) -> Void) {
        for acceptor in allAcceptors { acceptor.forEachCall(body) }
    }
}

extension Acceptor {
    /// Calls `body` with each call of its connections.
    fileprivate func forEachCall(_ body: (Call) -> Void) {
        for connection in openConnections { connection.forEachCall(body) }
    }
}

extension CallerConnection {
    /// Calls `body` with each call that is under way.
    func forEachCall(_ body: (Call) -> Void) {
        session?.forEachExchange { _, user in
            guard let call = user as? Call ?? (user as? RESTRequestReader)?.call, !call.isOver else { return }
            body(call)
        }
    }
}
