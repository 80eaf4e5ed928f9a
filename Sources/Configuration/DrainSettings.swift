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

    static let options = [
        Option("min", .duration, default: "0s", "How long new connections are still taken after the signal to stop."),
        Option("max", .duration, default: "30s", "When the calls that are left are cut off."),
        Option(
            "handover",
            .duration,
            default: "5s",
            "With sockets that systemd holds: how long calls that began after the signal may take once Martlet no longer accepts."
        ),
    ]

    init(_ section: Section) {
        min = section.duration("min") ?? .zero
        max = section.duration("max")
        handover = section.duration("handover")
        if section.has("min"), section.duration("min") == nil {
            section.report("\"min\" cannot be none; write a duration such as 5s", at: "min")
        }
        if let max, max < min {
            section.report(
                "\"max\" is shorter than \"min\"; make it at least as long",
                at: section.has("max") ? "max" : "min"
            )
        }
    }
}
