internal import Configuration
internal import Time

/// A pause of a fixed length, or of a random one between two bounds.
struct MockPause: Sendable {
    private let minLength: Duration
    private let maxLength: Duration

    /// A pause without length.
    static let none = MockPause(minLength: .zero, maxLength: .zero)

    private init(minLength: Duration, maxLength: Duration) {
        (self.minLength, self.maxLength) = (minLength, maxLength)
    }

    /// Reads the options of a pause and reports what is wrong with them.
    init(_ section: Section) {
        for key in ["from", "to"] {
            guard case .scalar("none", _)? = section.node(key)?.content else { continue }
            section.report("a pause cannot be \"none\"; write a time such as 50ms", at: key)
        }
        minLength = section.duration("from") ?? .zero
        let end = section.duration("to") ?? minLength
        maxLength = max(minLength, end)
        if end < minLength {
            section.report("\"to\" is less than \"from\"; write for example { from: 10ms, to: 50ms }", at: "to")
        }
    }

    /// Whether every pause has no length.
    var isEmpty: Bool { maxLength == .zero }

    /// Returns the length of one pause.
    ///
    /// - Parameter fraction: A random number from 0 up to 1, which a pause of fixed length does not draw.
    /// - Returns: The length.
    func length(_ fraction: @autoclosure () -> Double) -> Duration {
        guard maxLength > minLength else { return minLength }
        return minLength + (maxLength - minLength).scaled(by: fraction())
    }
}
