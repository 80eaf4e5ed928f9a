/// The spans that wait to be exported: a bounded queue, whose oldest make room for new ones.
public struct SpanQueue: Sendable {
    private var spans: [SpanRecord] = []
    /// How many at the beginning have been removed.
    private var removed = 0
    /// How many may wait.
    public private(set) var capacity: Int
    /// How many have made room.
    public private(set) var dropped = 0

    /// Makes an empty queue.
    public init(capacity: Int) { self.capacity = max(1, capacity) }

    /// How many spans wait.
    public var count: Int { spans.count - removed }

    /// Adds a span, for which the oldest makes room if there is none.
    public mutating func append(_ span: SpanRecord) {
        spans.append(span)
        guard count > capacity else { return }
        removed += 1
        dropped += 1
        compact()
    }

    /// Removes the oldest spans, at most so many.
    public mutating func removeFirst(_ maxCount: Int) -> [SpanRecord] {
        let end = removed + min(maxCount, count)
        let first = Array(spans[removed..<end])
        removed = end
        compact()
        return first
    }

    /// Lets so many wait from now on; what is beyond that is dropped.
    public mutating func limit(to capacity: Int) {
        self.capacity = max(1, capacity)
        let excess = max(0, count - self.capacity)
        removed += excess
        dropped += excess
        compact()
    }

    /// Moves what is left to the beginning, once it is less than what was removed.
    private mutating func compact() {
        guard removed * 2 >= spans.count else { return }
        spans.removeFirst(removed)
        removed = 0
    }
}
