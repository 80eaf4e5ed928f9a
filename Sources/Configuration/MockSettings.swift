/// What serves calls in place of a server, as the file describes it; an interceptor of the kind `mock` names it.
public struct MockSettings: Equatable, Sendable {
    /// The name.
    public let name: String
    /// Its options, to be read by the table below.
    public let node: Node
    /// Where the name stands.
    @NotCompared public private(set) var mark: Mark

    /// Takes a name and its options; a name that is none is reported.
    public init(_ entry: Node.Entry, into diagnostics: Diagnostics) {
        (name, node, mark) = (entry.key, entry.value, entry.keyMark)
        Name.check(name, at: mark, into: diagnostics)
    }

    /// The mocks of the file; what is no mapping of names is reported.
    static func all(_ section: Section) -> [MockSettings] {
        guard let node = section.node("mocks") else { return [] }
        guard let entries = node.entries else {
            section.report("\"mocks\" cannot be \(node.summary); write a mapping of names to mocks", at: "mocks")
            return []
        }
        return entries.map { MockSettings($0, into: section.diagnostics) }
    }

    /// The options of a mock.
    public static let options = [
        Option(
            "service",
            .string,
            example: "shop.v1.OrderService",
            "The RPC service. Other calls go on past the mock. The default is all services."
        ),
        Option(
            "methods",
            .node,
            shape: .named(.value(.sections(ruleOptions))),
            "The rules of each method, by its name. The first rule that matches applies."
        ),
        Option("rules", .sections(ruleOptions), "The rules of all other calls, also of plain HTTP."),
        Option(
            "unmatched",
            .choice(unmatchedNames),
            example: "unimplemented",
            """
            The response to a call without a matching rule: an empty message, the error `unimplemented`, that of \
            the upstream, or a message with invented values (`fake`, which needs `types`). Plain HTTP gets \
            `unimplemented` instead of a message. The default is `empty`, and `unimplemented` with a tape.
            """
        ),
        Option(
            "tape",
            .string,
            file: .read,
            example: "/var/lib/martlet/orders.yaml",
            "A file with recorded calls, to be played back in place of rules."
        ),
        Option(
            "order",
            .choice(["any", "recorded"]),
            default: "any",
            """
            The order of a tape: each call is played to the first equal request (`any`), or the next request must be \
            that of the next call (`recorded`).
            """
        ),
        Option("repeat", .bool, default: "false", "Plays the last of several equal calls of a tape again and again."),
        Option(
            "timing",
            .string,
            default: "none",
            "The rhythm of a tape: `none` sends at once, `recorded` as it was, and `2x` at twice that speed."
        ),
        Option("match", .section(matchOptions), "What tells the requests of a tape apart, beside call and messages."),
        Option(
            "calls",
            .integers(in: 1...1_000_000_000),
            example: "[1, 3]",
            "The numbers of the calls of a tape that are played. The default is all."
        ),
        Option(
            "diff",
            .bool,
            default: "false",
            """
            Sends each call of a tape to the upstream, and notes in the journal what of the response is not as recorded.
            """
        ),
        Option(
            "journal",
            .size(in: 0...1 << 30),
            default: "16MiB",
            """
            The memory for the calls that the admin socket shows. The oldest ones are removed first, and messages \
            over a sixteenth of it are cut.
            """
        ),
        Option(
            "held_messages",
            .size(in: 0...64 << 20),
            default: "4MiB",
            """
            The memory of a call for the messages that texts name by their numbers, as in `{json:2:/id}`, and for \
            those that a condition `messages` compares. Beyond it, such a value is missing, and the condition does not \
            hold.
            """
        ),
        Option(
            "keys",
            .integer(in: 1...1_000_000_000),
            default: "10000",
            "The limit of keys that have a `state`. The oldest ones are removed first."
        ),
    ]

    private static let matchOptions = [
        Option("headers", .strings, example: "[x-tenant]", "Request headers that must be as recorded."),
        Option("ignore", .strings, example: "[/request_id]", "Places in messages that need not be, as JSON Pointers."),
    ]

    /// What `unmatched` can be.
    public static let unmatchedNames = ["empty", "unimplemented", "next", "fake"]
}
