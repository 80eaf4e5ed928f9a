internal import Bytes
internal import Time

/// What a Timestamp and a Duration have.
struct SecondsAndNanos: Equatable {
    var seconds: Int64
    var nanos: Int32

    init(seconds: Int64, nanos: Int32) {
        self.seconds = seconds
        self.nanos = nanos
    }

    init(_ message: Message, _ type: MessageType) {
        seconds = message[type.fields[0]].int64
        nanos = message[type.fields[1]].int32
    }

    /// Reads a fraction of a second with its point: one to nine digits, in billionths.
    static func fraction(_ text: Span<UInt8>) -> Int32? {
        guard 2...10 ~= text.count, text[0] == UInt8(ascii: ".") else { return nil }
        var value: Int32 = 0
        for index in 1..<10 {
            let digit = index < text.count ? text[index] : UInt8(ascii: "0")
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            value = value * 10 + Int32(digit - UInt8(ascii: "0"))
        }
        return value
    }

    /// Writes billionths of a second as a fraction with 3, 6 or 9 digits; nothing for none.
    static func fraction(_ nanos: Int32) -> String {
        guard nanos != 0 else { return "" }
        var digits = String(nanos.magnitude)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("000") { digits.removeLast(3) }
        return "." + digits
    }
}

/// A Timestamp in JSON: RFC 3339, with a capital T and Z.
enum TimestampText {
    private static let secondsOfDay = 86_400
    /// From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    static func text(_ time: SecondsAndNanos) -> String? {
        guard range ~= time.seconds, 0..<1_000_000_000 ~= time.nanos else { return nil }
        var days = Int(time.seconds) / secondsOfDay
        if Int(time.seconds) % secondsOfDay < 0 { days -= 1 }
        let second = Int(time.seconds) - days * secondsOfDay
        let date = CivilDate(daysSince1970: days)
        let queue = ByteQueue()
        queue.append(padded: date.year, digits: 4)
        for (mark, number) in [("-", date.month), ("-", date.day)] {
            queue.append(text: mark)
            queue.append(padded: number, digits: 2)
        }
        for (mark, number) in [("T", second / 3600), (":", second / 60 % 60), (":", second % 60)] {
            queue.append(text: mark)
            queue.append(padded: number, digits: 2)
        }
        return queue.readable.string + SecondsAndNanos.fraction(time.nanos) + "Z"
    }

    static func read(_ text: Span<UInt8>) -> SecondsAndNanos? {
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"),
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            let date = CivilDate(year: year, month: month, day: day), let time = time(text, 11),
            text[16] == UInt8(ascii: ":"), let second = number(text, 17, 2), second < 60
        else { return nil }
        var end = 19
        while end < text.count, text[end] == UInt8(ascii: ".") || 0x30...0x39 ~= text[end] { end += 1 }
        guard let nanos = end == 19 ? 0 : SecondsAndNanos.fraction(text.extracting(19..<end)),
            let offset = offset(text.extracting(end...))
        else { return nil }
        let seconds = Int64(date.daysSince1970 * secondsOfDay + time * 60 + second - offset * 60)
        return range ~= seconds ? SecondsAndNanos(seconds: seconds, nanos: nanos) : nil
    }

    /// The minutes of `hh:mm`.
    private static func time(_ text: Span<UInt8>, _ start: Int) -> Int? {
        guard let hour = number(text, start, 2), hour < 24, text[start + 2] == UInt8(ascii: ":"),
            let minute = number(text, start + 3, 2), minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    /// Minutes east of Greenwich.
    private static func offset(_ text: Span<UInt8>) -> Int? {
        if text.equals("Z") { return 0 }
        guard text.count == 6, let minutes = time(text, 1) else { return nil }
        return text[0] == UInt8(ascii: "+") ? minutes : text[0] == UInt8(ascii: "-") ? -minutes : nil
    }

    private static func number(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> Int? {
        var value = 0
        for index in start..<start + count {
            guard 0x30...0x39 ~= text[index] else { return nil }
            value = value * 10 + Int(text[index] - 0x30)
        }
        return value
    }
}

/// A Duration in JSON: seconds, with an `s` behind them.
enum DurationText {
    /// Ten thousand years; a fraction may come on top.
    private static let range: ClosedRange<Int64> = -315_576_000_000...315_576_000_000

    static func text(_ time: SecondsAndNanos) -> String? {
        let isOfOneSign = time.seconds == 0 || time.nanos == 0 || (time.seconds < 0) == (time.nanos < 0)
        guard range ~= time.seconds, -1_000_000_000 < time.nanos, time.nanos < 1_000_000_000, isOfOneSign else {
            return nil
        }
        let sign = time.seconds < 0 || time.nanos < 0 ? "-" : ""
        return "\(sign)\(time.seconds.magnitude)\(SecondsAndNanos.fraction(time.nanos))s"
    }

    static func read(_ text: Span<UInt8>) -> SecondsAndNanos? {
        guard text.count >= 2, text[text.count - 1] == UInt8(ascii: "s") else { return nil }
        let isNegative = text[0] == UInt8(ascii: "-")
        let digits = text.extracting((isNegative ? 1 : 0)..<text.count - 1)
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.count
        guard let whole = digits.extracting(..<point).decimal, range ~= Int64(whole),
            let nanos = point == digits.count ? 0 : SecondsAndNanos.fraction(digits.extracting(point...))
        else { return nil }
        return isNegative
            ? SecondsAndNanos(seconds: -Int64(whole), nanos: -nanos)
            : SecondsAndNanos(seconds: Int64(whole), nanos: nanos)
    }
}
