/// Where the bytes of a spool are, and what is done with them next; pure.
///
/// First come those in the file, then those on their way there, then those that wait in memory. A retry reads them in this
/// order. What comes meanwhile waits elsewhere, so nothing more is written until the retry has read all.
struct SpoolLayout: Equatable {
    /// What a retry sends next.
    enum Step: Equatable {
        /// Bytes of the file.
        case file(offset: Int, count: Int)
        /// Bytes that are in memory, since the file cannot have them, from an index on: first those that were to be written.
        case unwritten(from: Int)
        /// Those behind.
        case waiting(from: Int)
        /// Nothing, until what is on its way to the file is there.
        case wait
        /// All is sent.
        case end
    }

    /// How many bytes are written or read at once.
    static let piece = 128 * 1024

    /// The bytes in the file.
    private(set) var written = 0
    /// The bytes on their way there, or that could not be written.
    private(set) var unwritten = 0
    /// The bytes behind them.
    private(set) var waiting = 0
    /// The file can have no more.
    private(set) var hasFailed = false
    /// How far a retry has read; nil if none reads.
    private(set) var position: Int?

    var count: Int { written + unwritten + waiting }
    var isWriting: Bool { unwritten > 0 && !hasFailed }
    /// Whether so much waits in memory that no more should come.
    var isCrowded: Bool { isWriting && waiting >= Self.piece }

    /// Bytes come.
    mutating func append(_ count: Int) { waiting += count }

    /// Whether what waits is to be written now, which has begun then.
    mutating func beginWrite() -> Bool {
        guard !hasFailed, !isWriting, position == nil, waiting >= Self.piece else { return false }
        (unwritten, waiting) = (waiting, 0)
        return true
    }

    /// What was on its way to the file is there.
    mutating func hasWritten() {
        written += unwritten
        unwritten = 0
    }

    /// What was on its way to the file, or a part of it, is not there.
    mutating func failed() { hasFailed = true }

    /// A retry reads from the first byte on.
    mutating func rewind() { position = 0 }

    /// What it sends next.
    var next: Step {
        guard let position, position < count else { return .end }
        if position < written { return .file(offset: position, count: min(Self.piece, written - position)) }
        if isWriting { return .wait }
        let index = position - written
        return index < unwritten ? .unwritten(from: index) : .waiting(from: index - unwritten)
    }

    /// The retry has sent so many bytes.
    mutating func sent(_ count: Int) { position = position.map { $0 + count } }

    /// No retry reads.
    mutating func endRetry() { position = nil }
}
