internal import HTTP
internal import Time

/// The `date` of responses that come without one (RFC 9110 §6.6.1).
///
/// Belongs to a worker's thread.
final class ResponseDates {
    private static let field = FieldName("date")

    /// The text of the current second.
    private var text: [UInt8] = []
    /// The end of that second.
    private var end = Instant.start

    /// Adds the time at which a response came, unless its head has a date.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - now: The time of the worker's loop.
    ///   - wallTime: The same time as a date, which is read once a second.
    func complete(_ head: HTTPHead, at now: Instant, _ wallTime: @autoclosure () -> WallTime) {
        guard head.first(Self.field) == nil else { return }
        if now >= end {
            let time = wallTime()
            text = HTTPDate.text(of: time)
            end = now + .nanoseconds(1_000_000_000 - Int64(time.secondsAndNanoseconds.nanoseconds))
        }
        let text = text
        head.add(Self.field, text.span)
    }
}
