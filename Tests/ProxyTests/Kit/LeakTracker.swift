import Events

/// Knows the connections that the worker has made, without keeping them alive.
final class LeakTracker {
    private struct Entry {
        weak var wire: AnyObject?
        weak var connection: AnyObject?
    }

    private var entries: [Entry] = []

    /// Notes a wire and the connection that owns it.
    func note(_ wire: any Watcher) {
        let owner = Mirror(reflecting: wire).descendant("owner") as AnyObject?
        entries.append(Entry(wire: wire, connection: owner))
    }

    /// What is still alive.
    var living: [String] {
        entries.flatMap { [$0.wire, $0.connection] }.compactMap { $0.map { "\(type(of: $0))" } }
    }
}
