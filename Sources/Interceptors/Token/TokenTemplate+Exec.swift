internal import Bytes
internal import Configuration
internal import Credentials
internal import Documents
internal import Events
internal import Proxy

/// Tokens that programs write.
extension TokenTemplate {
    static let execOptions = [
        Option(
            "command",
            .strings,
            required: true,
            file: .start,
            "The absolute path of the program, and its arguments, which may be templates. Martlet uses no shell."
        ),
        Option("environment", .map, "Environment variables for the program, in addition to those of Martlet."),
        Option(
            "format",
            .choice(["text", "json", "kubernetes", "aws"]),
            default: "text",
            """
            The output of the program: the token alone, JSON, a Kubernetes ExecCredential, or that of an AWS \
            credential_process.
            """
        ),
        Option(
            "pointer",
            .string,
            example: "/token",
            "The JSON Pointer to the token. The default with `aws` is `/SessionToken`."
        ),
        Option("expires_in", .string, "The JSON Pointer to the lifetime of the token in seconds."),
        Option(
            "expires_at",
            .string,
            "The JSON Pointer to the expiry of the token: seconds since 1970, or an RFC 3339 time."
        ),
        Option("timeout", .timeout, default: "10s", "The time limit of the program. Martlet then kills it."),
    ]

    init?(exec section: Section) {
        let texts = section.markedStrings("command")
        guard let program = texts.first else { return nil }
        if !program.text.hasPrefix("/") {
            let problem = "\(Diagnostic.quote(program.text)) is not an absolute path, and Martlet does not search PATH"
            section.diagnostics.report("\(problem); write for example /usr/bin/tool", at: program.mark)
        }
        if texts.count == 1, program.text.contains(" "), !program.text.contains("{") {
            let problem = "\(Diagnostic.quote(program.text)) is a single word, and Martlet uses no shell"
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
            if !section.has(key) {
                section.report("\"\(key)\" is empty; write a JSON Pointer to the token, such as /token", at: key)
            }
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
        if pointer == nil { section.report("\"\(key)\" is not a JSON Pointer; write for example /token", at: key) }
        return pointer
    }
}
