internal import HTTP
internal import Time

/// The `date` of responses that come without one (RFC 9110 §6.6.1).
///
/// Belongs to a worker's thread.
final class ResponseDates {
    private static let field = FieldName("date")

    private var second = Int.min
    /// The text of the date in that second.
    private var text: [UInt8] = []

    /// Adds the time at which a response came, unless its head has a date.
    func complete(_ head: HTTPHead, at time: WallTime) {
        guard head.first(Self.field) == nil else { return }
        let second = time.secondsAndNanoseconds.seconds
        if second != self.second { (self.second, text) = (second, HTTPDate.text(of: time)) }
        let text = text
        head.add(Self.field, text.span)
    }
}
