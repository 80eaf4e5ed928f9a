/// Where bodies of requests are kept for a retry that are larger than the retry buffer.
public struct UpstreamSpoolSettings: Equatable, Sendable {
    /// The directory of the files.
    public let directory: MarkedString
    /// The bytes of one request's body that go to its file.
    public let max: Int
    /// The bytes in all files of the upstream, in the whole process.
    public let total: Int

    static let options = [
        Option(
            "to",
            .string,
            required: true,
            file: .write,
            example: "/var/cache/martlet",
            "The directory of the files."
        ),
        Option(
            "max",
            .size(in: 1...1 << 40),
            default: "1GiB",
            "The size limit of one request's file. A larger body cannot be retried."
        ),
        Option(
            "total",
            .size(in: 1...1 << 50),
            default: "4GiB",
            "The size limit of all files of this upstream, in all workers together. Beyond it bodies are not kept."
        ),
    ]

    /// Reads the section; a `max` that `total` has no room for is reported.
    init(_ section: Section) {
        directory = section.marked("to") ?? MarkedString("", at: section.mark)
        max = section.size("max")
        total = section.size("total")
        guard max > total else { return }
        let problem = "\"max\" is larger than \"total\" (\(ByteCount.text(total)))"
        section.report("\(problem); write a smaller \"max\", or a larger \"total\"", at: "max")
    }
}
