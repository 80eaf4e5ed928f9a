/// The part of the reference page about the command line, made from the table of commands.
enum CommandSections {
    /// The paragraphs, tables and headings of the part.
    static var paragraphs: [String] {
        [
            "## Commands",
            "`martlet COMMAND --help` describes one command.",
            table("command", Command.all.map { ("`\($0.synopsis)`", $0.summary) }),
            "### Command options",
            table("option", options, aliases),
            "### Signals",
            table("signal", HandledSignal.all.map { (code($0.names), $0.summary) }),
            "### Exit codes",
            table("code", Exit.meanings.map { ("\($0.exit.code)", $0.text) }),
        ]
    }

    private static var options: [(String, String)] {
        Command.allOptions.map { option in
            let owners = Command.having(option)
            let isEverywhere = owners.count == Command.all.count
            let place = isEverywhere ? "" : " For \(owners.map { "`\($0.name)`" }.joined(separator: ", "))."
            return (code(option.spellings, option.value), option.summary + place)
        }
    }

    private static var aliases: [(String, String)] {
        Command.all.flatMap(\.aliases).map { alias in
            (code(alias.spellings), "Short for `\(alias.words.joined(separator: " "))`.")
        }
    }

    /// Each name as code, the last one with the name of the value behind it.
    private static func code(_ names: [String], _ value: String? = nil) -> String {
        let last = (names.last ?? "") + (value.map { " \($0)" } ?? "")
        return (names.dropLast() + [last]).map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func table(_ first: String, _ rows: [(String, String)]...) -> String {
        let lines = rows.joined().map { "| \($0) | \($1) |" }
        return (["| \(first) | meaning |", "|---|---|"] + lines).joined(separator: "\n")
    }
}
