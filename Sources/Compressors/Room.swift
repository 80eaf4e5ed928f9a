/// How much room to give to the steps of a message: little at first, since most messages are small.
struct Room {
    private var size = 256

    /// The room for the next step, in bytes.
    mutating func next() -> Int {
        size = min(2 * size, 64 * 1024)
        return size
    }
}
