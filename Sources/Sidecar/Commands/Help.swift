/// The text that `--help` prints.
enum Help {
    /// The help for the command of this name, or for all commands.
    static func text(for name: String?) throws(UsageError) -> String {
        guard let name else { return all }
        return text(for: try Command.named(name))
    }

    /// The help for all commands.
    static var all: String {
        let synopses = Command.all.map(\.synopsis)
        let options = Command.allOptions.map { ($0.title, $0.summary + owners(of: $0)) }
        return """
            Martlet is a sidecar for RPC. It passes calls through interceptors and forwards them to upstreams.

            usage: \(synopses.joined(separator: "\n       "))

            commands:
            \(list(Command.all.map { ($0.name, $0.summary) }))

            options:
            \(list(options + Command.all.flatMap(\.aliases).map(row)))

            signals:
            \(list(HandledSignal.all.map { ($0.names.joined(separator: ", "), $0.summary) }))

            exit codes:
            \(list(Exit.meanings.map { ("\($0.exit.code)", $0.text) }))
            """
    }

    /// The help for one command.
    static func text(for command: Command) -> String {
        let options = (command.options + [.help]).map { ($0.title, $0.summary) }
        let parts = [
            wrapped(command.summary, indent: 0),
            "usage: \(wrapped(command.words, indent: 7))",
            "options:\n\(list(options + command.aliases.map(row)))",
            command.example.map { "example: \($0)" },
            "martlet --help lists all commands, signals and exit codes.",
        ]
        return parts.compactMap(\.self).joined(separator: "\n\n")
    }

    /// The commands that have an option, unless all of them have it.
    private static func owners(of option: CommandOption) -> String {
        let owners = Command.having(option)
        return owners.count == Command.all.count ? "" : " (\(owners.map(\.name).joined(separator: ", ")))"
    }

    private static func row(_ alias: Command.Alias) -> (String, String) {
        (alias.spellings.joined(separator: ", "), "Short for \(alias.words.joined(separator: " ")).")
    }

    /// Lines of two columns, of which the second one is wrapped.
    private static func list(_ rows: [(title: String, text: String)]) -> String {
        let width = rows.map(\.title.count).max() ?? 0
        return rows.map { title, text in
            let gap = String(repeating: " ", count: width - title.count + 2)
            return "  \(title)\(gap)\(wrapped(text, indent: width + 4))"
        }
        .joined(separator: "\n")
    }

    /// The text in lines of at most 100 columns, of which all but the first begin with `indent` spaces.
    private static func wrapped(_ text: String, indent: Int) -> String {
        wrapped(text.split(separator: " ").map(String.init), indent: indent)
    }

    private static func wrapped(_ words: [String], indent: Int) -> String {
        var lines: [String] = []
        for word in words {
            if let last = lines.last, indent + last.count + word.count < 100 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(word)
            }
        }
        return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
    }
}
