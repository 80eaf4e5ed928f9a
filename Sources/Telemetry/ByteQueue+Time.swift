internal import Bytes
internal import Time

extension ByteQueue {
    /// Appends a time in seconds, without trailing zeros: `0.005`, `2.5`, `10`.
    func append(seconds nanoseconds: Int) {
        if nanoseconds < 0 { append(byte: UInt8(ascii: "-")) }
        let (seconds, fraction) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        append(decimal: Int(seconds))
        guard fraction > 0 else { return }
        append(byte: UInt8(ascii: "."))
        var rest = fraction
        var unit: UInt = 100_000_000
        while rest > 0 {
            append(byte: UInt8(ascii: "0") + UInt8(rest / unit))
            rest %= unit
            unit /= 10
        }
    }

    /// Appends a time in milliseconds with three decimals, cut and not rounded: `1.234`.
    func append(milliseconds duration: Duration) {
        let microseconds = Int(max(.zero, duration).nanoseconds / 1000)
        append(decimal: microseconds / 1000)
        append(byte: UInt8(ascii: "."))
        append(padded: microseconds % 1000, digits: 3)
    }
}
