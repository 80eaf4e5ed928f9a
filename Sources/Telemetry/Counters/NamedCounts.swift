/// Some counters for each of a few names, in rows that are only ever added.
///
/// A name is found by looking at all of them: do it when a configuration is loaded, and keep the row.
struct NamedCounts: Sendable {
    /// How many counters each name has.
    let columns: Int
    private(set) var names: [String] = []
    private var counts: [Int] = []

    init(columns: Int) {
        self.columns = columns
    }

    /// The row of `name`, which is added if it is new.
    mutating func row(named name: String) -> Int {
        if let known = names.firstIndex(of: name) { return known }
        names.append(name)
        for _ in 0..<columns { counts.append(0) }
        return names.count - 1
    }

    subscript(row: Int, column: Int) -> Int {
        get { counts[row * columns + column] }
        set { counts[row * columns + column] = newValue }
    }

    /// Adds the counts of `other`, name by name.
    mutating func merge(_ other: NamedCounts) {
        for row in other.names.indices {
            let ours = self.row(named: other.names[row])
            for column in 0..<columns { self[ours, column] &+= other[row, column] }
        }
    }
}
