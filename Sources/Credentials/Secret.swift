internal import Bytes
public import Configuration
internal import Events
private import Glibc

/// Something that nobody may see, and where it is read.
///
/// A file is read when the secret is needed, so that another content counts from then on. White space at the ends of what a
/// file, a variable or a program has is no part of it: editors and `echo` put line breaks there.
public enum Secret: Hashable, Sendable {
    /// The configuration, or the environment, has it.
    case value([UInt8])
    /// A file has it.
    case file(String)
    /// A program writes it: its path and arguments.
    case exec([String])

    /// The options of a section that names a secret.
    public static let options = [
        Option(
            "file",
            .string,
            oneOf: "secret",
            file: .read,
            example: "/run/secrets/client",
            "The file with the secret."
        ),
        NamedFile.credential(oneOf: "secret"),
        Option(
            "env",
            .string,
            oneOf: "secret",
            "The environment variable with the secret. Martlet reads it when it loads the configuration."
        ),
        Option(
            "exec",
            .strings,
            oneOf: "secret",
            file: .start,
            "The program that writes the secret, with its arguments."
        ),
        Option("value", .string, oneOf: "secret", "The secret itself. A file is safer."),
    ]

    /// The text that `value` or `env` of a section has; nil if there is none, which is reported.
    public static func text(_ section: Section) -> [UInt8]? {
        if let text = section.string(ifGiven: "value") { return Array(text.utf8) }
        guard let name = section.string(ifGiven: "env") else { return nil }
        guard let text = unsafe getenv(name) else {
            section.report("the environment variable \(name) is not set; set it", at: "env")
            return nil
        }
        return unsafe Array(String(cString: text).utf8).span.trimmedOfWhiteSpace.array
    }

    /// Reads a section that names a secret; nil if it names none, which is reported.
    public init?(_ section: Section) {
        if let file = NamedFile(section) {
            self = .file(file.path)
        } else if section.has("value") || section.has("env") {
            guard let text = Self.text(section) else { return nil }
            self = .value(text)
        } else {
            let command = section.strings("exec")
            guard let program = command.first else { return nil }
            guard program.hasPrefix("/") else {
                section.report(
                    "\(Diagnostic.quote(program)) is not an absolute path; write for example /usr/bin/tool",
                    at: "exec"
                )
                return nil
            }
            self = .exec(command)
        }
    }

    /// The text as it is now, for one that is needed at load and was read from `section`; nil if it cannot be had, which is
    /// reported.
    public func text(_ section: Section) -> [UInt8]? {
        switch self {
        case .value(let bytes): return bytes
        case .file(let path):
            switch SmallFile.read(path, limit: Self.limit) {
            case .success(let content):
                let secret = content.span.trimmedOfWhiteSpace.array
                if secret.isEmpty {
                    section.diagnostics.report("\(path) is empty; write the secret into it", at: section.mark)
                }
                return secret.isEmpty ? nil : secret
            case .failure(let error):
                let problem = "\(path): \(error.text)"
                if section.has("credential") {
                    section.diagnostics.lack(problem, at: section.mark)
                } else {
                    section.diagnostics.report(problem, at: section.mark)
                }
                return nil
            }
        case .exec:
            section.diagnostics.report(
                "\"exec\" is not possible here, because the secret is read at load; write { file: PATH }",
                at: section.mark
            )
            return nil
        }
    }

    /// The largest one, in bytes.
    public static let limit = 64 * 1024
}
