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

    /// Whether the left level writes less than the right one.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }
}
