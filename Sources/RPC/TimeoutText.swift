/// The value of a field that tells a time-out: a number, and in gRPC its unit; takes no memory of its own.
public struct TimeoutText: Sendable {
    private var characters = InlineArray<20, UInt8>(repeating: 0)
    private var start: Int

    /// Writes `number`, which is not negative, and has at most 19 digits.
    init(number: Int64, unit: UInt8?) {
        start = characters.count
        if let unit { prepend(unit) }
        var rest = number
        repeat {
            prepend(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
    }

    /// The characters.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { characters.span.extracting(start..<characters.count) }
    }

    private mutating func prepend(_ character: UInt8) {
        start -= 1
        characters[start] = character
    }
}
