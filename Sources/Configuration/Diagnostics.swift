/// All errors of one configuration file, collected while it is read, so that one run reports them all.
///
/// Belongs to the thread that reads the file.
public final class Diagnostics {
    private var collected: [Diagnostic] = []

    /// Starts with no errors.
    public init() {}

    /// Whether no error was reported.
    public var isEmpty: Bool { collected.isEmpty }

    /// The errors in the order of their positions, each once.
    public var sorted: [Diagnostic] {
        var seen: Set<Diagnostic> = []
        return collected.filter { seen.insert($0).inserted }
            .enumerated()
            .sorted { ($0.element.mark, $0.offset) < ($1.element.mark, $1.offset) }
            .map(\.element)
    }

    /// Adds an error: `message` is one line that says what is wrong and, after a semicolon, what would be right.
    public func report(_ message: String, at mark: Mark) {
        collected.append(Diagnostic(mark: mark, message: message))
    }

    /// The errors as lines `file:line:column: what is wrong; what would be right`, in the order of their positions.
    public func lines(file: String) -> [String] {
        sorted.map { "\(file):\($0.mark.line):\($0.mark.column): \($0.message)" }
    }
}
