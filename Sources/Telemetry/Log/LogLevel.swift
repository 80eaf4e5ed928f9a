/// How much a line of the operational log matters; greater is more talkative.
public enum LogLevel: UInt8, CaseIterable, Comparable, Sendable {
    /// Something does not work.
    case error
    /// Something works, but somebody should look.
    case warn
    /// What the daemon as a whole does.
    case info
    /// What single connections and calls do.
    case debug

    /// The name in the configuration and in the log.
    public var label: StaticString {
        switch self {
        case .error: "error"
        case .warn: "warn"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Whether `left` is less talkative than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}
