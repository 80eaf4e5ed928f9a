internal import Bytes

extension HTTPDate {
    private static let days: [StaticString] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// The form in which a date is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public static func text(of time: WallTime) -> [UInt8] {
        let seconds = time.secondsAndNanoseconds.seconds
        let (day, second) = (seconds.floor(86_400), seconds - seconds.floor(86_400) * 86_400)
        let date = CivilDate(daysSince1970: day)
        let text = ByteQueue(keeping: 32)
        text.append(days[day - day.floor(7) * 7])
        text.append(", ")
        text.append(date.day, digits: 2)
        text.append(" ")
        text.append(DateFields.months[date.month - 1])
        text.append(" ")
        text.append(date.year, digits: 4)
        for (sign, number) in zip([" ", ":", ":"] as [StaticString], [second / 3600, second / 60 % 60, second % 60]) {
            text.append(sign)
            text.append(number, digits: 2)
        }
        text.append(" GMT")
        return text.readable.array
    }
}

extension Int {
    /// The quotient, rounded down.
    fileprivate func floor(_ divisor: Int) -> Int { self >= 0 ? self / divisor : (self - divisor + 1) / divisor }
}

extension ByteQueue {
    /// Appends a number with zeros before it.
    fileprivate func append(_ number: Int, digits: Int) {
        var least = 10
        for _ in 1..<digits {
            if number < least { append("0") }
            least *= 10
        }
        append(decimal: number)
    }
}
