/// Keeps objects that one call no longer needs for the next call.
///
/// At most `limit` of them are kept, and what nobody has needed from one `trim` to the next goes: a burst that is over
/// leaves nothing behind for long. Belongs to one thread.
public struct FreeList<Element> {
    private var free: [Element] = []
    /// The fewest that were free at once since the last trim: so many have had no use since then.
    private var unused = 0
    /// The most that are kept.
    public let limit: Int

    /// Makes an empty list that keeps at most `limit`.
    public init(limit: Int) {
        self.limit = limit
    }

    /// The number of those that are kept.
    public var count: Int { free.count }

    /// The one that was given last; nil if there is none.
    public mutating func acquire() -> Element? {
        guard let element = free.popLast() else { return nil }
        if free.count < unused { unused = free.count }
        return element
    }

    /// Keeps the element for the next who takes one.
    ///
    /// - Returns: false if there are too many already: it is not kept.
    @discardableResult
    public mutating func release(_ element: consuming Element) -> Bool {
        guard free.count < limit else { return false }
        free.append(element)
        return true
    }

    /// Forgets those that nobody has needed since the last trim.
    ///
    /// - Returns: what is forgotten.
    @discardableResult
    public mutating func trim() -> [Element] {
        let removed = Array(free.prefix(unused))
        free.removeFirst(unused)
        unused = free.count
        return removed
    }

    /// Forgets all.
    ///
    /// - Returns: what is forgotten.
    public mutating func removeAll() -> [Element] {
        let all = free
        (free, unused) = ([], 0)
        return all
    }
}
