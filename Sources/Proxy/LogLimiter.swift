internal import Events
internal import Policy
internal import Time

/// Something that a person who runs the proxy should know, for the log of the daemon.
package struct LogMessage: Sendable {
    /// What has happened.
    package let text: String
    /// What it concerns: where, who, why.
    package let fields: [(name: StaticString, value: String)]
    /// Whether it is a warning, and not good news.
    package var isWarning = true
}

/// Passes on what people should know, at most one notice of a kind about a subject in ten seconds: what goes wrong a
/// thousand times a second is told once, and how often it was.
public final class LogLimiter {
    private static let pause = 10 * Duration.second
    /// The most subjects that are remembered.
    private static let maxSubjects = 256

    private struct Subject {
        var tokens = TokenBucket(1, per: LogLimiter.pause, burst: 1)
        /// How often it could not be told since the last time.
        var more = 0
    }

    private let loop: EventLoop
    private let log: (LogMessage) -> Void
    private var logged: [String: Subject] = [:]

    init(loop: EventLoop, log: @escaping (LogMessage) -> Void) {
        self.loop = loop
        self.log = log
    }

    /// Passes a notice on, unless one like it about `subject` has just been.
    ///
    /// The fields are made only for a notice that passes.
    public func note(
        _ text: String,
        about subject: String,
        _ fields: @autoclosure () -> [(name: StaticString, value: String)] = [],
        isWarning: Bool = true
    ) {
        let key = "\(text) \(subject)"
        var subject = logged[key] ?? Subject()
        guard subject.tokens.spend(at: loop.now) else {
            subject.more += 1
            logged[key] = subject
            return
        }
        let more = subject.more
        subject.more = 0
        if logged.count >= Self.maxSubjects { logged.removeAll() }
        logged[key] = subject
        var fields = fields()
        if more > 0 { fields.append(("more", "\(more)")) }
        log(LogMessage(text: text, fields: fields, isWarning: isWarning))
    }
}
