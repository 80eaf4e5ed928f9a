public import Time

/// What is known of the types of messages, and how they are written in JSON.
public struct TypesSettings: Equatable, Sendable {
    /// Where types come from beside files.
    public struct Reflection: Equatable, Sendable {
        /// The name of the upstream that is asked.
        public let upstream: MarkedString
        /// How often it is asked.
        public let refresh: Duration
    }

    /// How messages are written in JSON.
    public struct JSON: Equatable, Sendable {
        /// Whether members have the names of the definition, and not those in lowerCamelCase.
        public let keepsNames: Bool
        /// Whether fields with their default value are written.
        public let writesDefaults: Bool
        /// Whether enumerations are written as numbers.
        public let writesEnumNumbers: Bool
    }

    /// The files with descriptor sets.
    public let files: [MarkedString]
    /// The upstream that is asked for its types; none if the file names none.
    public let reflection: Reflection?
    /// Whether members that no field has are left out of a request, and not an error.
    public let dropsUnknown: Bool
    /// How messages are written in JSON.
    public let json: JSON

    /// The services that callers may use by the paths that their methods have.
    public let rest: [MarkedString]
    /// The names of query parameters that such a request may have for others.
    public let ignored: [String]

    static let options = [
        Option(
            "files",
            .strings,
            file: .read,
            example: "/etc/martlet/shop.binpb",
            """
            Files with descriptor sets, as `protoc --include_imports --descriptor_set_out` and `buf build` write \
            them. Martlet reads them at each reload.
            """
        ),
        Option(
            "reflection",
            .section(reflectionOptions, shorthand: "upstream"),
            """
            Fetches the types from an upstream with gRPC server reflection. A file of `files` replaces a fetched \
            file of the same name.
            """
        ),
        Option(
            "unknown_fields",
            .choice(["reject", "drop"]),
            default: "reject",
            "What happens to a JSON request with a field that its type does not have."
        ),
        Option("json", .section(jsonOptions), "How Martlet writes messages in JSON."),
        Option(
            "rest",
            .strings,
            example: "shop.v1.OrderService",
            """
            Services that callers may also use by REST: by the paths that `google.api.http` gives their methods.
            """
        ),
        Option(
            "ignore",
            .strings,
            example: "key",
            "Query parameters of REST requests that Martlet ignores. It rejects others that no field has."
        ),
    ]

    private static let reflectionOptions = [
        Option(
            "upstream",
            .string,
            required: true,
            example: "orders",
            "The name of the upstream. Its URL is h2c:// or https://."
        ),
        Option("refresh", .timeout, default: "5m", "How often Martlet fetches the types again, from 1s to 24h."),
    ]

    private static let jsonOptions = [
        Option(
            "names",
            .choice(["json", "proto"]),
            default: "json",
            "The names of fields: in lowerCamelCase, or as in the `.proto` file."
        ),
        Option(
            "defaults",
            .choice(["omit", "write"]),
            default: "omit",
            "Whether Martlet writes fields that have their default value."
        ),
        Option("enums", .choice(["names", "numbers"]), default: "names", "Enum values as names or as numbers."),
    ]

    init(_ section: Section) {
        section.reportIfEmpty("files", write: "the files with descriptor sets")
        files = section.markedStrings("files")
        reflection = Self.readReflection(section.section("reflection"))
        dropsUnknown = section.string("unknown_fields") == "drop"
        rest = section.markedStrings("rest")
        ignored = section.strings("ignore")
        let json = section.section("json")
        self.json = JSON(
            keepsNames: json.string("names") == "proto",
            writesDefaults: json.string("defaults") == "write",
            writesEnumNumbers: json.string("enums") == "numbers"
        )
    }

    private static func readReflection(_ section: Section) -> Reflection? {
        guard let upstream = section.marked("upstream") else { return nil }
        guard let refresh = section.duration("refresh"), refresh >= .second, refresh <= 86_400 * .second else {
            section.report("\"refresh\" is out of range; write a duration from 1s to 24h", at: "refresh")
            return nil
        }
        return Reflection(upstream: upstream, refresh: refresh)
    }
}
