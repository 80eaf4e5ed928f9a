/// The numbers of the streams that one side of a connection has begun, which only rise (RFC 9113 §5.1.1).
struct HTTP2StreamNumbers {
    /// The highest of them; -1 if there is none.
    private(set) var highest: Int32 = -1
    /// Those that were left out last: such a stream is closed without having been open.
    private(set) var skipped: Range<Int32> = 0..<0

    mutating func add(_ stream: Int32) {
        if stream > highest + 2 { skipped = highest + 2..<stream }
        highest = max(highest, stream)
    }
}
