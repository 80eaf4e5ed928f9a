/// The places of the documents of a stream of YAML, as a tape is one.
struct TapeDocuments {
    /// Where a document is: its bytes, and the number of its first line, from 1.
    struct Place {
        let range: Range<Int>
        let line: Int
    }

    private(set) var all: [Place] = []

    /// Finds the documents, which begin with `---` at the start of a line; what stands before the first is one as well.
    init(_ bytes: [UInt8]) {
        var (start, firstLine, line, position) = (0, 1, 1, 0)
        var isEmpty = true
        func finish(at end: Int, _ places: inout [Place]) {
            if !isEmpty { places.append(Place(range: start..<end, line: firstLine)) }
        }
        while position < bytes.count {
            let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let text = bytes[position..<end]
            if text.starts(with: "---".utf8) {
                finish(at: position, &all)
                (start, firstLine, isEmpty) = (position, line, true)
            } else if !text.isEmpty, text.first != UInt8(ascii: "#") {
                isEmpty = false
            }
            position = end + 1
            line += 1
        }
        finish(at: bytes.count, &all)
    }
}
