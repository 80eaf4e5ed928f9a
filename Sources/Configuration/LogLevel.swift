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

    /// The level as a priority of systemd's journal (sd-daemon(3)).
    public var priority: StaticString {
        switch self {
        case .error: "<3>"
        case .warn: "<4>"
        case .info: "<6>"
        case .debug: "<7>"
        }
    }

    /// Whether the left level writes less than the right one.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }
}
