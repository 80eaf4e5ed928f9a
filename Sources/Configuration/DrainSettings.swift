/// How long a stop takes.
public struct DrainSettings: Equatable, Sendable {
    /// How long new connections are still taken, so that whoever sends callers here can notice.
    public let min: Duration
    /// When the calls that are left are cut off; none is never.
    public let max: Duration?

    static let options = [
        Option("min", .duration, default: "0s", "How long new connections are still taken after the signal to stop."),
        Option("max", .duration, default: "30s", "When the calls that are left are cut off."),
    ]

    init(_ section: Section) {
        min = section.duration("min") ?? .zero
        max = section.duration("max")
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
