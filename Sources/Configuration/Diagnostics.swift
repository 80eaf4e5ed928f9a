/// One error in a configuration file: what is wrong, and what would be right.
public struct Diagnostic: Error, Hashable, Sendable {
    /// Where the error is.
    public let mark: Mark
    /// One line: what is wrong, a semicolon, and what would be right.
    public let message: String

    /// Says that `message` holds at `mark`.
    public init(mark: Mark, message: String) {
        self.mark = mark
        self.message = message
    }

    /// Text from the file, fit to stand in a message: in quotes, on one line, without control characters, and not long.
    public static func quote(_ text: String) -> String {
        var quoted = "\""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < 60 else { return quoted + "…\"" }
            let isControl = scalar.value < 0x20 || 0x7f..<0xa0 ~= scalar.value
            quoted += isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return quoted + "\""
    }
}

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
