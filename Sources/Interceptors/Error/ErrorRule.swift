internal import Configuration
internal import Proxy
internal import RPC

/// What becomes of some errors on their way to the caller.
struct ErrorRule: Sendable {
    static let options = [
        Option(
            "from",
            .choices(RPCCode.errorNames),
            example: "unavailable",
            "The code, or a list of codes, that the rule applies to. The default is every code."
        ),
        Option("code", .choice(RPCCode.errorNames), example: "resource_exhausted", "The new code."),
        Option(
            "message",
            .string,
            example: "\"try later: {message}\"",
            "The new message. `{code}` and `{message}` stand for the original ones."
        ),
        Option("details", .choice(["keep", "drop"]), default: "keep", "Keeps or drops the typed details."),
        Option("metadata", .map, "Fields to add to the metadata of the error."),
    ]

    /// The fields to be added.
    let metadata: [(name: String, value: String)]
    private let codes: Set<RPCCode>
    private let code: RPCCode?
    private let message: String?
    private let dropsDetails: Bool

    /// Reads a rule and reports what is wrong with it.
    init(_ section: Section) {
        let diagnostics = section.diagnostics
        codes = Set(section.strings("from").compactMap { RPCCode(name: $0) })
        code = section.string(ifGiven: "code").flatMap { RPCCode(name: $0) }
        message = section.string(ifGiven: "message")
        dropsDetails = section.string("details") == "drop"
        metadata = section.map("metadata").map { entry in
            _ = HeaderName.checked(entry.name, at: entry.nameMark, into: diagnostics)
            HeaderValue.check(entry.text, at: entry.mark, into: diagnostics)
            return (name: entry.name.lowercased(), value: entry.text)
        }
        if message.map(Self.hasOtherBraces) == true {
            section.report(
                "a message can contain only {code} and {message}; write \"{{\" for a plain brace",
                at: "message"
            )
        }
        if code == nil, message == nil, !dropsDetails, metadata.isEmpty {
            diagnostics.report(
                "the rule changes nothing; add \"code\", \"message\", \"details: drop\" or \"metadata\"",
                at: section.mark
            )
        }
    }

    private static func hasOtherBraces(_ text: String) -> Bool {
        let rest = text.replacing("{code}", with: "").replacing("{message}", with: "")
        return rest.contains("{") || rest.contains("}")
    }

    /// Whether the rule is for errors with this code.
    func applies(to code: RPCCode) -> Bool {
        codes.isEmpty || codes.contains(code)
    }

    /// What is told instead of `error`.
    func changed(_ error: RPCError) -> RPCError {
        var new = error
        if let code {
            new.code = code
            // The status that came with it told the other code.
            if code != error.code { new.httpStatus = nil }
        }
        if let message {
            // The message last: what has come may have braces of its own.
            new.message = message.replacing("{code}", with: "\(error.code.name)")
                .replacing("{message}", with: error.message)
        }
        if dropsDetails { new.details = [] }
        return new
    }
}
