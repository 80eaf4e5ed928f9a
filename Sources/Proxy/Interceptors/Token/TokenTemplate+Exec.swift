internal import Bytes
internal import Configuration
internal import Documents
internal import Events

/// Tokens that programs write.
extension TokenTemplate {
    static let execOptions = [
        Option(
            "command",
            .strings,
            required: true,
            "The program, by its whole path, and its arguments; templates are filled in. There is no shell."
        ),
        Option("environment", .map, "Variables for the program beside those of Martlet."),
        Option(
            "format",
            .choice(["text", "json", "kubernetes", "aws"]),
            default: "text",
            "What it writes: the token alone, JSON, an ExecCredential of Kubernetes, or what an AWS credential_process does."
        ),
        Option("pointer", .string, example: "/token", "Where JSON has the token; /SessionToken for aws if absent."),
        Option("expires_in", .string, "Where JSON has for how many seconds the token is good."),
        Option("expires_at", .string, "Where JSON has when it ends: seconds since 1970, or a time of RFC 3339."),
        Option("timeout", .timeout, default: "10s", "How long the program may take."),
    ]

    init?(exec section: Section) {
        let texts = section.markedStrings("command")
        guard let program = texts.first else { return nil }
        if !program.text.hasPrefix("/") {
            let problem = "\(Diagnostic.quote(program.text)) is looked for nowhere"
            section.diagnostics.report("\(problem); write the whole path, such as /usr/bin/tool", at: program.mark)
        }
        if texts.count == 1, program.text.contains(" "), !program.text.contains("{") {
            let problem = "\(Diagnostic.quote(program.text)) is one name, as there is no shell"
            section.diagnostics.report("\(problem); write a list: [PROGRAM, ARGUMENT]", at: program.mark)
        }
        let command = texts.map { TokenParameter($0.text, at: $0.mark, into: section.diagnostics) }
        let environment = Dictionary(section.map("environment").map { ($0.name, $0.text) }) { $1 }
        guard let response = Self.response(section) else { return nil }
        let timeout = section.duration("timeout")
        self.init(isConstant: command.allSatisfy(\.isConstant)) { call in
            Self.words(command, for: call).map {
                .exec(ExecSource(command: $0, environment: environment, response: response, timeout: timeout))
            }
        }
    }

    private static func words(_ command: [TokenParameter], for call: Call?) -> Result<[String], TemplateLack> {
        do throws(TemplateLack) {
            var words: [String] = []
            for word in command { words.append(try word.text(for: call)) }
            return .success(words)
        } catch {
            return .failure(error)
        }
    }

    private static func response(_ section: Section) -> CredentialResponse? {
        switch section.string("format") {
        case "kubernetes": return .execCredential
        case "aws": return .aws(value: pointer(section, "pointer") ?? CredentialResponse.sessionToken)
        case "json": return fields(section, value: "pointer").map { .json($0) }
        default: return .text
        }
    }

    /// Where JSON has the token, and its end.
    static func fields(_ section: Section, value key: String) -> CredentialFields? {
        guard let value = pointer(section, key) else {
            if !section.has(key) { section.report("\"\(key)\" has to say where the token is", at: key) }
            return nil
        }
        return CredentialFields(
            value: value,
            expiresIn: pointer(section, "expires_in"),
            expiresAt: pointer(section, "expires_at")
        )
    }

    private static func pointer(_ section: Section, _ key: String) -> JSONPointer? {
        guard let text = section.string(ifGiven: key) else { return nil }
        let pointer = JSONPointer(text)
        if pointer == nil { section.report("a place in JSON begins with /, such as /token (RFC 6901)", at: key) }
        return pointer
    }
}
