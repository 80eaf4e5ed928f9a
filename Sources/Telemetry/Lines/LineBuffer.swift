/// Lines that wait for a reader: up to a bound, beyond which further lines are dropped and counted.
///
/// The reader gets everything in order. Where lines are missing, it gets their number in their place.
public struct LineBuffer: Sendable {
    /// What the reader gets.
    public enum Item: Equatable, Sendable {
        /// A line, with its line feed.
        case line([UInt8])
        /// So many lines are missing here.
        case lost(Int)
    }

    /// What an item counts for beside the bytes of its line.
    public static let overhead = 64

    private let maxBytes: Int
    private var items: [Item] = []
    /// The index of the next item to be read.
    private var next = 0
    /// How many lines were dropped after the last item.
    private var lost = 0
    /// How many bytes wait.
    public private(set) var bytes = 0

    /// Makes an empty buffer; `maxBytes` bounds the lines that wait in it, each with its overhead.
    public init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Whether there is nothing to read.
    public var isEmpty: Bool { next == items.count && lost == 0 }

    /// Adds what somebody else has read; a line for which there is no room is dropped and counted.
    public mutating func append(_ item: Item) {
        switch item {
        case .lost(let count): lost += count
        case .line(let line): append(line)
        }
    }

    /// Adds a line; drops and counts it if there is no room.
    public mutating func append(_ line: [UInt8]) {
        let loss = lost > 0 ? Self.overhead : 0
        let size = line.count + Self.overhead
        guard bytes + loss + size <= maxBytes else {
            lost += 1
            return
        }
        if lost > 0 { items.append(.lost(lost)) }
        lost = 0
        items.append(.line(line))
        bytes += loss + size
    }

    /// Removes the item that has waited longest; nil if there is none.
    public mutating func removeFirst() -> Item? {
        guard next < items.count else {
            defer { lost = 0 }
            return lost > 0 ? .lost(lost) : nil
        }
        let item = items[next]
        items[next] = .lost(0)
        next += 1
        bytes -= Self.size(of: item)
        releaseRead()
        return item
    }

    /// Releases the places of items that were read, once they are as many as those that wait.
    private mutating func releaseRead() {
        if next == items.count {
            items.removeAll(keepingCapacity: next <= 64)
        } else if next >= 64, next * 2 >= items.count {
            items.removeFirst(next)
        } else {
            return
        }
        next = 0
    }

    private static func size(of item: Item) -> Int {
        if case .line(let line) = item { line.count + overhead } else { overhead }
    }
}
