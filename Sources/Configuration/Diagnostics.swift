/// All errors and warnings of one configuration file, collected while it is read, so that one run reports them all; and
/// what the file needs of the system, whatever is wrong with it.
///
/// Belongs to the thread that reads the file.
public final class Diagnostics {
    private var collected: [Diagnostic] = []
    private var cautions: [Diagnostic] = []
    private var lacking: [Diagnostic] = []
    /// What the file needs of the system, in the order in which it was found.
    public private(set) var needs: [SystemNeed] = []

    /// Starts with no errors.
    public init() {}

    /// Whether no error was reported.
    public var isEmpty: Bool { collected.isEmpty }

    /// The errors in the order of their positions, each once.
    public var sorted: [Diagnostic] { Self.sorted(collected) }

    /// The warnings in the order of their positions, each once: a file with none but those is good for use.
    public var warnings: [Diagnostic] { Self.sorted(cautions) }

    /// What this machine or this process lacks, in the order of positions, each once: the file can be checked without it,
    /// and not used.
    public var lacks: [Diagnostic] { Self.sorted(lacking) }

    private static func sorted(_ all: [Diagnostic]) -> [Diagnostic] {
        var seen: Set<Diagnostic> = []
        return all.filter { seen.insert($0).inserted }
            .enumerated()
            .sorted { ($0.element.mark, $0.offset) < ($1.element.mark, $1.offset) }
            .map(\.element)
    }

    /// Adds an error: `message` is one line that says what is wrong and, after a semicolon, what would be right.
    public func report(_ message: String, at mark: Mark) {
        collected.append(Diagnostic(mark: mark, message: message))
    }

    /// Adds a warning: `message` is one line that says what may go wrong and, after a semicolon, what would be better.
    public func warn(_ message: String, at mark: Mark) {
        cautions.append(Diagnostic(mark: mark, message: message))
    }

    /// Adds what is missing here, and may well be there where the file is used: `message` is one line that says what.
    public func lack(_ message: String, at mark: Mark) {
        lacking.append(Diagnostic(mark: mark, message: message))
    }

    /// Adds something that the file needs of the system.
    public func note(_ need: SystemNeed) {
        needs.append(need)
    }

    /// The errors as lines `file:line:column: what is wrong; what would be right`, in the order of their positions.
    public func lines(file: String) -> [String] {
        sorted.map { $0.line(file: file) }
    }
}
