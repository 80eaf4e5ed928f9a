/// The time a caller allows for a call, counted from the arrival of the request; zero is over already.
public struct Timeout: Comparable, Sendable {
    /// The time in nanoseconds; never negative.
    public let nanoseconds: Int64

    /// The longest there is, some 292 years: what a field says that names more, and as good as none.
    public static let maximum = Timeout(nanoseconds: .max)

    /// Takes a time; a negative one is over already.
    public init(nanoseconds: Int64) {
        self.nanoseconds = max(0, nanoseconds)
    }

    /// Whether `left` is over first.
    public static func < (left: Timeout, right: Timeout) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
