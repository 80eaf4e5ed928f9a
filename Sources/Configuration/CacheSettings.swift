/// Where responses are kept; interceptors of the kind `cache` name it.
public struct CacheSettings: Equatable, Hashable, Sendable {
    /// The name.
    public let name: String
    /// The most bytes that it may take, with keys and heads.
    public let bytes: Int
    /// The most bytes of the body of one response.
    public let object: Int
    /// Where the name stands.
    @NotCompared public private(set) var mark: Mark

    static let options = [
        Option(
            "bytes",
            .size(in: 1 << 16...1 << 40),
            default: "16MiB",
            "The size limit of the cache: keys, heads and bodies. What was not used for longest goes first."
        ),
        Option(
            "object",
            .size(in: 1...1 << 30),
            default: "1MiB",
            "The size limit of the body of one response. Larger ones are not stored."
        ),
    ]

    /// Reads a cache, and reports what is wrong with it.
    init(_ section: NamedSection) {
        name = section.name
        bytes = section.section.size("bytes")
        object = section.section.size("object")
        mark = section.mark
        Name.check(name, at: mark, into: section.section.diagnostics)
        if object > bytes {
            let problem = "\"object\" (default 1MiB) is larger than \"bytes\", so that no such response has room"
            section.section.report("\(problem); write a smaller \"object\", or raise \"bytes\"", at: "bytes")
        }
    }
}
