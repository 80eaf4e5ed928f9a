internal import Bytes
public import Time

/// A header field in which callers bring their time-out, and what is written in it.
public enum TimeoutField: UInt8, CaseIterable, Sendable {
    /// `grpc-timeout`: 1 to 8 digits and a unit (gRPC over HTTP/2, "Requests").
    case grpc
    /// `connect-timeout-ms`: 1 to 10 digits (Connect protocol, "Unary-Request").
    case connect

    /// The name of the field.
    public var name: StaticString {
        switch self {
        case .grpc: "grpc-timeout"
        case .connect: "connect-timeout-ms"
        }
    }

    /// Reads a value of the field; none if it is not to the letter what the protocol wants.
    ///
    /// Allocates nothing.
    public func read(_ value: Span<UInt8>) -> Duration? {
        switch self {
        case .grpc: readGRPC(value)
        case .connect: Self.number(value, atMost: 10).map { Duration.milliseconds($0) }
        }
    }

    /// The value that tells the next server of `remaining`.
    ///
    /// At least 1, since there 0 would be over before the request has arrived. It is rounded down: in gRPC to milliseconds
    /// if those take 8 digits at most, else to the next unit that does; in Connect always to milliseconds.
    public func text(of remaining: Duration) -> TimeoutText {
        let milliseconds = max(1, remaining.nanoseconds / 1_000_000)
        guard self == .grpc else { return TimeoutText(number: min(milliseconds, 9_999_999_999), unit: nil) }
        if milliseconds < Self.maxValue { return TimeoutText(number: milliseconds, unit: UInt8(ascii: "m")) }
        let seconds = milliseconds / 1000
        if seconds < Self.maxValue { return TimeoutText(number: seconds, unit: UInt8(ascii: "S")) }
        let minutes = seconds / 60
        if minutes < Self.maxValue { return TimeoutText(number: minutes, unit: UInt8(ascii: "M")) }
        return TimeoutText(number: minutes / 60, unit: UInt8(ascii: "H"))
    }

    /// The first number with more than 8 digits.
    private static let maxValue: Int64 = 100_000_000

    private func readGRPC(_ value: Span<UInt8>) -> Duration? {
        guard value.count > 1, let unit = Self.nanoseconds(ofUnit: value[value.count - 1]),
            let number = Self.number(value.extracting(0..<value.count - 1), atMost: 8)
        else { return nil }
        let (nanoseconds, isTooLong) = Int64(number).multipliedReportingOverflow(by: unit)
        return isTooLong ? .max : .nanoseconds(nanoseconds)
    }

    private static func number(_ digits: Span<UInt8>, atMost maxValue: Int) -> Int? {
        digits.count <= maxValue ? digits.decimal : nil
    }

    private static func nanoseconds(ofUnit unit: UInt8) -> Int64? {
        switch unit {
        case UInt8(ascii: "H"): 3_600_000_000_000
        case UInt8(ascii: "M"): 60_000_000_000
        case UInt8(ascii: "S"): 1_000_000_000
        case UInt8(ascii: "m"): 1_000_000
        case UInt8(ascii: "u"): 1000
        case UInt8(ascii: "n"): 1
        default: nil
        }
    }
}
