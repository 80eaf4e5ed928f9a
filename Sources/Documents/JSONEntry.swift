/// An entry of the index of a JSON text: the offset of a value or a name, and a mark.
///
/// The entry of an array or object that is not empty is followed by one with the index behind its last part.
enum JSONEntry {
    /// The maximum offset.
    static let maxOffset = Int(mark) - 1
    /// Marks a string with escapes, and an array or object that is empty.
    static let mark: UInt32 = 1 << 31

    static func offset(_ entry: UInt32) -> Int { Int(entry & ~mark) }
    static func isMarked(_ entry: UInt32) -> Bool { entry & mark != 0 }
}
