public import Bytes
public import Time

/// Writes one line of the operational log: `2026-11-20T11:12:13.123Z info listening address=127.0.0.1:8080`, or for
/// systemd's journal, which has a time of its own, `<6>info listening address=127.0.0.1:8080`.
///
/// One line stays one line, and a field stays one field, whatever the text: what could forge a line or steer a terminal
/// is escaped. Not for the path of a call.
public struct LogfmtLine {
    /// What a line begins with.
    public enum Lead {
        /// The time of day.
        case time(WallTime, TimestampFormatter)
        /// A priority for the journal, as sd-daemon(3) writes it: `<3>`.
        case priority(StaticString)
    }

    private let queue: ByteQueue

    /// Begins a line.
    ///
    /// - Parameters:
    ///   - queue: where the line goes.
    ///   - lead: the time, or the priority.
    ///   - level: how much the line matters.
    ///   - message: what happened, in our own words; text from outside belongs in a field.
    public init(to queue: ByteQueue, _ lead: Lead, _ level: StaticString, _ message: String) {
        self.queue = queue
        switch lead {
        case .time(let time, let formatter):
            formatter.append(time, to: queue)
            queue.append(" ")
        case .priority(let text): queue.append(text)
        }
        queue.append(level)
        queue.append(" ")
        for scalar in message.unicodeScalars { append(scalar, escapingQuotes: false) }
    }

    /// Adds `name=value`, with the value in quotes where it is not a plain word.
    public func field(_ name: StaticString, _ value: String) {
        begin(name)
        let isWord = !value.isEmpty && value.unicodeScalars.allSatisfy(\.isPlainInLog)
        guard !isWord else { return queue.append(text: value) }
        queue.append("\"")
        for scalar in value.unicodeScalars { append(scalar, escapingQuotes: true) }
        queue.append("\"")
    }

    /// Adds `name=value`.
    public func field(_ name: StaticString, _ value: Int) {
        begin(name)
        queue.append(decimal: value)
    }

    /// Ends the line.
    public func end() {
        queue.append("\n")
    }

    private func begin(_ name: StaticString) {
        queue.append(" ")
        queue.append(name)
        queue.append("=")
    }

    private func append(_ scalar: Unicode.Scalar, escapingQuotes: Bool) {
        switch scalar {
        case "\n": queue.append("\\n")
        case "\r": queue.append("\\r")
        case "\t": queue.append("\\t")
        case "\"" where escapingQuotes: queue.append("\\\"")
        case "\\" where escapingQuotes: queue.append("\\\\")
        case _ where scalar.isInvisible: appendEscape(scalar)
        default: queue.append(text: String(scalar))
        }
    }

    /// Writes `\u001b`, as JSON does: a pair of escapes beyond the first plane.
    private func appendEscape(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            queue.append("\\u")
            for shift in [12, 8, 4, 0] { queue.append(hexadecimal: Int(unit) >> shift & 15) }
        }
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may act on the character instead of showing it.
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    fileprivate var isPlainInLog: Bool {
        !isInvisible && !properties.isWhitespace && self != "\"" && self != "=" && self != "\\"
    }
}
