internal import Bytes

/// Values by keys, with a bound on what they cost; those that were not used for longest go first.
///
/// There are two segments: what is new is on probation, and what is used again is protected, up to four fifths of the
/// bound. So a scan of things that are used once takes the place of other such things only. Pure; belongs to whoever
/// holds it.
struct SegmentedLRU<Value> {
    private struct Node {
        var key: [UInt8]
        var hash: Int
        var value: Value?
        var cost: Int
        var isProtected = false
        var previous = none
        var next = none
        /// The next node with the same hash.
        var sameHash = none
    }

    private struct Segment {
        var first = none
        var last = none
        var cost = 0
    }

    private static var none: Int { -1 }

    /// The most that all values may cost together.
    let limit: Int
    /// What else takes room within the limit.
    var reserved = 0 {
        didSet { makeRoom(for: 0) }
    }
    private(set) var count = 0
    /// How many values had to go for others.
    private(set) var evictions = 0
    private var nodes: [Node] = []
    private var free: [Int] = []
    private var places: [Int: Int] = [:]
    private var probation = Segment()
    private var protected = Segment()

    /// What is kept beside a key and a value: the node, and its place in the table.
    static var overhead: Int { MemoryLayout<Node>.stride + 2 * MemoryLayout<Int>.stride * 2 + 64 }

    init(limit: Int) {
        self.limit = limit
    }

    /// What there is for values that were used once, and for what else takes room.
    var unprotected: Int { limit - protected.cost }

    /// What all values cost together.
    var cost: Int { probation.cost + protected.cost }

    /// Where the value of a key is, if there is one; good until the next change.
    func place(of key: Span<UInt8>, hash: Int) -> Int? {
        var place = places[hash] ?? Self.none
        while place != Self.none {
            if key.equals(nodes[place].key) { return place }
            place = nodes[place].sameHash
        }
        return nil
    }

    /// The value at a place.
    func value(at place: Int) -> Value? { nodes[place].value }

    /// The value at a place has been used.
    mutating func use(_ place: Int) {
        let wasProtected = nodes[place].isProtected
        guard wasProtected ? protected.first != place : true else { return }
        unlink(place)
        link(place, isProtected: true)
        while protected.cost > limit / 5 * 4, protected.last != place {
            let last = protected.last
            unlink(last)
            link(last, isProtected: false)
        }
    }

    /// Keeps a value, in the place of the one that the key had, and lets others go until there is room.
    ///
    /// - Returns: whether there can be room for it.
    @discardableResult
    mutating func insert(_ value: Value, _ key: [UInt8], hash: Int, cost: Int) -> Bool {
        let wasProtected = place(of: key.span, hash: hash).map { nodes[$0].isProtected } ?? false
        remove(key.span, hash: hash)
        guard cost <= limit - reserved else { return false }
        makeRoom(for: cost)
        let node = Node(key: key, hash: hash, value: value, cost: cost, sameHash: places[hash] ?? Self.none)
        let place: Int
        if let last = free.popLast() {
            place = last
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[hash] = place
        count += 1
        link(place, isProtected: wasProtected)
        return true
    }

    /// Lets values go until one more of this cost has room.
    private mutating func makeRoom(for cost: Int) {
        while self.cost + reserved + cost > limit, count > 0 {
            remove(at: probation.last != Self.none ? probation.last : protected.last)
            evictions += 1
        }
    }

    /// Lets the value of a key go.
    mutating func remove(_ key: Span<UInt8>, hash: Int) {
        if let place = place(of: key, hash: hash) { remove(at: place) }
    }

    /// Lets all values go whose keys and values `isUnwanted` returns true for.
    mutating func removeAll(where isUnwanted: ([UInt8], Value) -> Bool) {
        for place in nodes.indices {
            if let value = nodes[place].value, isUnwanted(nodes[place].key, value) { remove(at: place) }
        }
    }

    private mutating func remove(at place: Int) {
        unlink(place)
        leaveTable(place)
        nodes[place] = Node(key: [], hash: 0, value: nil, cost: 0)
        free.append(place)
        count -= 1
    }

    private mutating func leaveTable(_ place: Int) {
        let (hash, next) = (nodes[place].hash, nodes[place].sameHash)
        guard var before = places[hash], before != place else {
            places[hash] = next == Self.none ? nil : next
            return
        }
        while nodes[before].sameHash != place { before = nodes[before].sameHash }
        nodes[before].sameHash = next
    }

    // MARK: The lists

    private mutating func link(_ place: Int, isProtected: Bool) {
        var segment = isProtected ? protected : probation
        nodes[place].isProtected = isProtected
        nodes[place].previous = Self.none
        nodes[place].next = segment.first
        if segment.first != Self.none { nodes[segment.first].previous = place } else { segment.last = place }
        segment.first = place
        segment.cost += nodes[place].cost
        if isProtected { protected = segment } else { probation = segment }
    }

    private mutating func unlink(_ place: Int) {
        let (previous, next, isProtected) = (nodes[place].previous, nodes[place].next, nodes[place].isProtected)
        var segment = isProtected ? protected : probation
        if previous != Self.none { nodes[previous].next = next } else { segment.first = next }
        if next != Self.none { nodes[next].previous = previous } else { segment.last = previous }
        segment.cost -= nodes[place].cost
        if isProtected { protected = segment } else { probation = segment }
    }
}
