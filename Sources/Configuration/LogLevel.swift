/// How much is written to the operational log.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// What needs a person.
    case error
    /// What may need one.
    case warn
    /// What happened to the daemon as a whole.
    case info
    /// What helps to find a fault.
    case debug

    /// The word that stands in a line of the log.
    public var label: StaticString {
        switch self {
        case .error: "error"
        case .warn: "warn"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Whether the left level writes less than the right one.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }
}
