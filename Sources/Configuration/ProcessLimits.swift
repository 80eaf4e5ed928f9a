/// What the process as a whole may take.
public struct ProcessLimits: Equatable, Sendable {
    /// The bytes that unfinished heads of callers may hold; none is what the machine suggests.
    public let memory: Int?

    static let options = [
        Option(
            "memory",
            .size(in: 1 << 16...1 << 50),
            example: "512MiB",
            "The bytes that heads of requests may hold that have come in part, of all callers together. By default half of what the control group of the process may have, or 512MiB where that has no limit."
        )
    ]

    init(_ section: Section) {
        memory = section.integer(ifGiven: "memory")
    }
}
