internal import Events
internal import Time

/// Something that a person who runs the proxy should know, for the log of the daemon.
package struct LogMessage: Sendable {
    /// What has happened.
    package let text: String
    /// What it concerns: where, who, why.
    package let fields: [(name: StaticString, value: String)]
}

/// Passes on what people should know, at most one notice of a kind about a subject in ten seconds: what goes wrong a
/// thousand times a second is told once, and how often it was.
final class LogLimiter {
    private static let pause = 10 * Duration.second
    /// The most subjects that are remembered.
    private static let maxSubjects = 256

    private let loop: EventLoop
    private let log: @Sendable (LogMessage) -> Void
    private var logged: [String: (until: Instant, more: Int)] = [:]

    init(loop: EventLoop, log: @escaping @Sendable (LogMessage) -> Void) {
        self.loop = loop
        self.log = log
    }

    /// Passes a notice on, unless one like it about `subject` has just been.
    func note(_ text: String, about subject: String, _ fields: (name: StaticString, value: String)...) {
        let key = "\(text) \(subject)"
        let last = logged[key]
        if let last, loop.now < last.until {
            logged[key] = (last.until, last.more + 1)
            return
        }
        if logged.count >= Self.maxSubjects { logged.removeAll() }
        logged[key] = (loop.now + Self.pause, 0)
        var fields = fields
        if let more = last?.more, more > 0 { fields.append(("more", "\(more)")) }
        log(LogMessage(text: text, fields: fields))
    }
}
