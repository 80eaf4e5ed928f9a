internal import Events
public import Proxy

/// The signals that scripts of mocks wait for, in the whole process.
///
/// A signal is for every call that is under way: one that has not come to its step `until` yet passes it later without
/// waiting. A call that begins later waits for the next one. Safe on any thread.
public final class MockSignals: Sendable {
    private struct Content {
        /// How often each signal has been raised.
        var raised: [String: Int] = [:]
        /// What wakes the calls that wait, by signals and tickets.
        var waiting: [String: [Int: @Sendable () -> Void]] = [:]
        var lastTicket = 0
    }

    private let content = Locked(Content())

    private init() {}

    /// The signals of the process.
    public static func shared(in store: SharedStore) -> MockSignals {
        store.object("signals") { MockSignals() }
    }

    /// How often signals have been raised.
    func raised(_ names: [String]) -> [String: Int] {
        content.withLock { content in
            names.reduce(into: [:]) { $0[$1] = content.raised[$1] ?? 0 }
        }
    }

    /// Waits for a signal, unless it has been raised more often than `used`.
    ///
    /// - Parameters:
    ///   - name: the signal.
    ///   - used: how many of its raisings do not count.
    ///   - wake: called on any thread, once, when it is raised.
    /// - Returns: what ends the waiting; none if there is nothing to wait for.
    func wait(for name: String, beyond used: Int, wake: @escaping @Sendable () -> Void) -> Int? {
        content.withLock { content in
            guard content.raised[name] ?? 0 <= used else { return nil }
            content.lastTicket += 1
            content.waiting[name, default: [:]][content.lastTicket] = wake
            return content.lastTicket
        }
    }

    /// Waits no more for a signal.
    func stopWaiting(for name: String, _ ticket: Int) {
        content.withLock { $0.waiting[name]?[ticket] = nil }
    }

    /// Raises a signal.
    ///
    /// - Returns: how many calls have waited for it.
    @discardableResult
    public func raise(_ name: String) -> Int {
        let woken = content.withLock { content in
            content.raised[name, default: 0] += 1
            let woken = content.waiting.removeValue(forKey: name) ?? [:]
            return woken.sorted { $0.key < $1.key }.map(\.value)
        }
        for wake in woken { wake() }
        return woken.count
    }
}
