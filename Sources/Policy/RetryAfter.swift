internal import Bytes
public import Time

/// When a server that sends `retry-after` wants to be asked again (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// How long to wait from `now` on; nil if the value is neither a number of seconds nor a date.
    ///
    /// - Parameters:
    ///   - value: the value of the field.
    ///   - now: the time of day.
    /// - Returns: `.zero` for a date that is over; the longest time there is for one that is too far off.
    public static func time(_ value: Span<UInt8>, now: WallTime) -> Duration? {
        let value = value.trimmed
        if value.isDigits { return value.decimal.map(Duration.seconds) ?? .max }
        guard let date = HTTPDate(value, now: now) else { return nil }
        // The last time stands for every later one.
        return date.time == .max ? .max : max(now, date.time) - now
    }
}

/// What a gRPC server says of a retry, in the field `grpc-retry-pushback-ms` (gRFC A6).
public enum RetryPushback: Equatable, Sendable {
    /// Not before so long.
    case after(Duration)
    /// Not at all.
    case never

    /// Reads the value of the field: a 32-bit number of milliseconds.
    ///
    /// One that is negative, or no number, means not at all.
    public init(_ value: Span<UInt8>) {
        let value = value.trimmed
        guard value.isDigits, let milliseconds = value.decimal, milliseconds <= Int(Int32.max) else {
            self = .never
            return
        }
        self = .after(milliseconds * .millisecond)
    }
}

extension Span<UInt8> {
    /// Whether there are digits and nothing else.
    fileprivate var isDigits: Bool {
        for index in indices where !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[index]) { return false }
        return count > 0
    }
}
