internal import Bytes

/// Finds names that an object has twice, in time that grows with the text only.
struct JSONNames {
    /// The maximum number of names that are compared with each other.
    private static let few = 8
    /// The indices of names by their hashes, kept for the next object; `.max` is free.
    private var table: [UInt32] = []

    /// Returns the index of a name that an object has for the second time, compared without escapes, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - entries: The index, whose last entries are those of the object.
    ///   - start: The index of the first name.
    /// - Returns: The index of the second name.
    mutating func second(in text: Span<UInt8>, _ entries: Span<UInt32>, from start: Int) -> Int? {
        var count = 0
        var index = start
        while index < entries.count {
            count += 1
            index = JSONDocument.next(text, entries, after: index + 1)
        }
        guard count > 1 else { return nil }
        return count <= Self.few ? second(text, entries, start) : secondInTable(text, entries, start, count)
    }

    private func second(_ text: Span<UInt8>, _ entries: Span<UInt32>, _ start: Int) -> Int? {
        var index = start
        while index < entries.count {
            var other = start
            while other < index {
                if Self.areSame(text, entries[index], entries[other]) { return index }
                other = JSONDocument.next(text, entries, after: other + 1)
            }
            index = JSONDocument.next(text, entries, after: index + 1)
        }
        return nil
    }

    private mutating func secondInTable(
        _ text: Span<UInt8>,
        _ entries: Span<UInt32>,
        _ start: Int,
        _ count: Int
    ) -> Int? {
        // A third to two thirds are in use.
        let size = 1 << (Int.bitWidth - (count + count / 2).leadingZeroBitCount)
        table.removeAll(keepingCapacity: table.capacity <= 1024)
        table.append(contentsOf: repeatElement(.max, count: size))
        var index = start
        while index < entries.count {
            var place = Self.hash(text, entries[index]) & (size - 1)
            while table[place] != .max {
                if Self.areSame(text, entries[index], entries[Int(table[place])]) { return index }
                place = (place + 1) & (size - 1)
            }
            table[place] = UInt32(truncatingIfNeeded: index)
            index = JSONDocument.next(text, entries, after: index + 1)
        }
        if size > 1024 { table = [] }
        return nil
    }

    private static func hash(_ text: Span<UInt8>, _ name: UInt32) -> Int {
        let raw = JSONDocument.rawString(text, name)
        guard JSONEntry.isMarked(name) else { return raw.seededHash }
        let plain = JSONText.unescaped(raw)
        return plain.span.seededHash
    }

    private static func areSame(_ text: Span<UInt8>, _ one: UInt32, _ other: UInt32) -> Bool {
        let (raw, otherRaw) = (JSONDocument.rawString(text, one), JSONDocument.rawString(text, other))
        if !JSONEntry.isMarked(one), !JSONEntry.isMarked(other) { return raw.equals(otherRaw) }
        let (plain, otherPlain) = (JSONText.unescaped(raw), JSONText.unescaped(otherRaw))
        return plain == otherPlain
    }
}
