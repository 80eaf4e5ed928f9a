/// What the process as a whole may take.
public struct ProcessLimits: Equatable, Sendable {
    /// The bytes that may be held for calls, unfinished heads and connections; none is what the machine suggests.
    public let memory: Int?

    static let options = [
        Option(
            "memory",
            .size(in: 1 << 20...1 << 50),
            example: "512MiB",
            """
            The memory for all calls, unfinished heads and connections, of which connections have a quarter. \
            Beyond it Martlet closes idle connections, rejects new calls and ends the largest stalled ones. The \
            default is half of the cgroup's limit, or 512MiB.
            """
        )
    ]

    init(_ section: Section) {
        memory = section.integer(ifGiven: "memory")
    }
}
