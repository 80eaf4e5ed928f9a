public import Bytes
public import Time

/// One line of the access log: a JSON object whose first field is the time.
public typealias AccessLogLine = JSONWriter

extension AccessLogLine {
    /// Begins a line with the field `time`.
    ///
    /// - Parameters:
    ///   - queue: where the line goes.
    ///   - time: the time of day.
    ///   - formatter: formats it.
    public init(to queue: ByteQueue, at time: WallTime, formatter: TimestampFormatter) {
        self.init(to: queue)
        field("time", time: time, formatter: formatter)
    }
}
