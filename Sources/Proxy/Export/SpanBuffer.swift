internal import Events
private import Synchronization
public import Telemetry

/// The spans of all workers on their way to the exporter.
///
/// Safe on any thread.
public final class SpanBuffer: Sendable {
    private let queue = Locked(SpanQueue(capacity: 2048))
    private let isWanted = Atomic(false)

    /// The one of the process, by the store that its workers share.
    public static func shared(in store: SharedStore) -> SpanBuffer { store.object("spans", make: { SpanBuffer() }) }

    private init() {}

    /// Whether somebody exports them.
    public var isUsed: Bool { isWanted.load(ordering: .relaxed) }

    /// Adds the spans of a call; the oldest make room if there is none.
    ///
    /// Nothing is kept if nobody exports them.
    public func append(_ spans: [SpanRecord]) {
        guard isUsed else { return }
        queue.withLock { queue in
            for span in spans { queue.append(span) }
        }
    }

    /// Somebody exports them, or does so no more.
    ///
    /// - Parameter capacity: how many may wait; none drops them all.
    func use(capacity: Int?) {
        isWanted.store(capacity != nil, ordering: .relaxed)
        queue.withLock { queue in
            if let capacity { queue.limit(to: capacity) } else { _ = queue.removeFirst(queue.count) }
        }
    }

    /// Removes the oldest.
    func removeFirst(_ maxCount: Int) -> [SpanRecord] { queue.withLock { $0.removeFirst(maxCount) } }

    /// How many wait.
    var count: Int { queue.withLock(\.count) }

    /// How many have been dropped.
    var dropped: Int { queue.withLock(\.dropped) }
}
