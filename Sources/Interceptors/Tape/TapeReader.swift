internal import Bytes
public import Events

/// The recorded calls of a tape, read one after the other.
public struct TapeReader {
    /// A document as it stands in the file.
    public struct Document {
        /// The number of the call, from 1.
        public let number: Int
        /// Where it begins, in bytes.
        public let offset: Int
        /// The number of its first line, from 1.
        public let line: Int
        /// What it has.
        public let bytes: [UInt8]
        /// Whether nothing follows it.
        public let isLast: Bool

        /// Whether it says at its end that it is whole.
        public var hasEndMark: Bool { TapeReader.hasEndMark(bytes) }
    }

    /// The longest document, in bytes.
    private static let maxDocument = 16 << 20

    /// The file.
    public let path: String
    /// Its bytes.
    public let pieces: FilePieces
    private var buffer: [UInt8] = []
    /// Up to where the buffer has been looked at for the next document.
    private var seen = 0
    private var offset = 0
    private var number = 0
    private var line = 1
    /// The lines before `seen`.
    private var lines = 0
    private var isAtEnd = false
    /// Whether all documents so far have a line that says that they are whole.
    private var marksEnds = true

    /// Opens a tape.
    ///
    /// - Throws: why it cannot be opened.
    public init(_ path: String) throws(SystemError) {
        self.path = path
        pieces = try FilePieces(path)
    }

    /// Opens a tape that must be a file, and no pipe that has to be waited for.
    ///
    /// - Throws: why it cannot be opened.
    init(file path: String) throws(SystemError) {
        self.path = path
        pieces = try FilePieces(regularFile: path)
    }

    /// The next document that has something in it; none behind the last.
    ///
    /// - Throws: why it cannot be read.
    public mutating func next() throws(SystemError) -> Document? {
        while true {
            guard let end = try documentEnd() else { return nil }
            let bytes = Array(buffer[..<end])
            let (start, firstLine) = (offset, line)
            (offset, line, lines) = (offset + bytes.count, line + lines, 0)
            buffer.removeSubrange(..<end)
            seen = 0
            guard Self.hasContent(bytes) else { continue }
            number += 1
            let isLast = isAtEnd && buffer.isEmpty
            if !isLast, !Self.hasEndMark(bytes) { marksEnds = false }
            return Document(number: number, offset: start, line: firstLine, bytes: bytes, isLast: isLast)
        }
    }

    /// Where the document ends that begins at the start of the buffer: before the next line `---`.
    private mutating func documentEnd() throws(SystemError) -> Int? {
        while true {
            while let count = buffer.span.extracting(seen..<buffer.count).firstIndex(of: UInt8(ascii: "\n")) {
                let next = seen + count + 1
                // What follows has to be there to be looked at.
                guard next + 3 <= buffer.count || isAtEnd else { break }
                (seen, lines) = (next, lines + 1)
                if buffer[next...].starts(with: "---".utf8) { return next }
            }
            guard !isAtEnd else { return buffer.isEmpty ? nil : buffer.count }
            guard buffer.count <= Self.maxDocument else { throw SystemError.tooLarge }
            guard let more = try pieces.next() else {
                isAtEnd = true
                continue
            }
            buffer += more
        }
    }

    /// Whether all of a document that can be read is there: where others end in `...`, the last one has to.
    public func isWhole(_ document: Document) -> Bool {
        !document.isLast || number == 1 || !marksEnds || Self.hasEndMark(document.bytes)
    }

    fileprivate static func hasEndMark(_ bytes: [UInt8]) -> Bool { bytes.span.hasSuffix(Array("\n...\n".utf8)) }

    /// Whether something else than marks and comments is in a document.
    private static func hasContent(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while let first = rest.first {
            let isLine = first == UInt8(ascii: "\n") || first == UInt8(ascii: "#")
            guard isLine || rest.starts(with: "---".utf8) || rest.starts(with: "...".utf8) else { return true }
            guard let feed = rest.firstIndex(of: UInt8(ascii: "\n")) else { return false }
            rest = rest[(feed + 1)...]
        }
        return false
    }
}
