/// What the process as a whole may take.
public struct ProcessLimits: Equatable, Sendable {
    /// The bytes that may be held for calls and unfinished heads; none is what the machine suggests.
    public let memory: Int?

    static let options = [
        Option(
            "memory",
            .size(in: 1 << 16...1 << 50),
            example: "512MiB",
            "The memory for all calls of the process and for heads that have come in part. Beyond it new calls are rejected as resource_exhausted, and stalled calls are ended, those first that hold most. By default half of what the control group of the process may have, or 512MiB where that has no limit."
        )
    ]

    init(_ section: Section) {
        memory = section.integer(ifGiven: "memory")
    }
}
