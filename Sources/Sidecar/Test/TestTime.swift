internal import Configuration
internal import Time

/// A condition on a time.
struct TestTime {
    private var least = Duration.zero
    private var most = Duration.max

    /// Timers go off up to so much later.
    private static let tolerance = 20 * Duration.millisecond

    /// Reads a duration, or bounds of one; what is wrong is reported.
    init(_ node: Node, into diagnostics: Diagnostics) {
        if let entries = node.entries {
            for entry in entries {
                guard case .scalar(let text, _) = entry.value.content else { continue }
                let time = Self.duration(MarkedString(text, at: entry.value.mark), into: diagnostics)
                switch entry.key {
                case "above": least = time
                case "below": most = time
                default:
                    let problem = "unknown key \(Diagnostic.quote(entry.key))"
                    diagnostics.report("\(problem); expected one of: above, below", at: entry.keyMark)
                }
            }
        } else if case .scalar(let text, _) = node.content {
            least = Self.duration(MarkedString(text, at: node.mark), into: diagnostics)
            most = least + Self.tolerance
        } else {
            let advice = "write a duration, or { above: 1s, below: 2s }"
            diagnostics.report("a time cannot be \(node.summary); \(advice)", at: node.mark)
        }
    }

    func holds(for time: Duration) -> Bool { time >= least && time <= most }

    /// Whether a time is the one that is expected, as exactly as timers are.
    static func isNear(_ time: Duration, _ expected: Duration) -> Bool {
        time >= expected && time - expected <= tolerance
    }

    /// Reads a duration; one that is none is reported.
    static func duration(_ text: MarkedString, into diagnostics: Diagnostics) -> Duration {
        if let time = Duration(text: text.text) { return time }
        let problem = "\(Diagnostic.quote(text.text)) is not a duration"
        diagnostics.report("\(problem); write for example 250ms or 3s", at: text.mark)
        return .zero
    }

    /// A duration for people.
    static func text(_ time: Duration) -> String {
        let milliseconds = time / Duration.millisecond
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
