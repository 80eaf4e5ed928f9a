public import Time

/// How long a stop takes.
public struct DrainSettings: Equatable, Sendable {
    /// How long new connections are still taken, so that whoever sends callers here can notice.
    public let min: Duration
    /// When the calls that are left are cut off; none is never.
    public let max: Duration?
    /// How long new callers may have to wait for the next process while the last calls end; none is no limit.
    ///
    /// Counts if the service manager holds the listening sockets.
    public let handover: Duration?

    /// How long after a reload a call may go by the configuration before; none is as long as it takes.
    public let generation: Duration?

    static let options = [
        Option("min", .duration, default: "0s", "How long Martlet still accepts connections after the signal to stop."),
        Option(
            "max",
            .duration,
            default: "30s",
            "The time limit of a drain. Martlet then cancels the calls that are left."
        ),
        Option(
            "handover",
            .duration,
            default: "5s",
            """
            The time limit of calls that begin after the signal, with sockets from systemd, once Martlet stops \
            accepting connections.
            """
        ),
        Option(
            "generation",
            .duration,
            default: "none",
            """
            The time limit after a reload of calls that began before it. Martlet then ends them with \
            `unavailable`.
            """
        ),
    ]

    init(_ section: Section) {
        min = section.duration("min") ?? .zero
        max = section.duration("max")
        handover = section.duration("handover")
        generation = section.duration("generation")
        if section.has("min"), section.duration("min") == nil {
            section.report("\"min\" cannot be none; write a duration such as 5s", at: "min")
        }
        if let max, max < min {
            section.report(
                "\"max\" cannot be shorter than \"min\"; write a duration that is at least as long",
                at: section.has("max") ? "max" : "min"
            )
        }
    }
}
