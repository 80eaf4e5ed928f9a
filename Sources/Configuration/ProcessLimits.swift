/// What the process as a whole may take.
public struct ProcessLimits: Equatable, Sendable {
    /// The bytes that may be held for calls and unfinished heads; none is what the machine suggests.
    public let memory: Int?

    static let options = [
        Option(
            "memory",
            .size(in: 1 << 16...1 << 50),
            example: "512MiB",
            """
            The memory for all calls and unfinished heads. Beyond it Martlet rejects new calls and ends the \
            largest stalled ones. The default is half of the cgroup's limit, or 512MiB.
            """
        )
    ]

    init(_ section: Section) {
        memory = section.integer(ifGiven: "memory")
    }
}
