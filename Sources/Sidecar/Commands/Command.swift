internal import Proxy

/// A command of the program: its name, what it accepts, and what it does.
///
/// Everything about the command line comes from the table ``all``: parsing, usage errors, `--help` and a section of the
/// reference page.
struct Command: Sendable {
    /// The word that selects the command.
    let name: String
    /// One or two sentences for `--help` and the reference page.
    let summary: String
    /// The flags that stand for the command, such as `-t` for `check`.
    let aliases: [Alias]
    /// The options of the command, besides `--help`.
    let options: [CommandOption]
    /// The positional arguments in their order.
    let operands: [Operand]
    /// What the command accepts after `--`, as `--help` writes it; nil if it accepts nothing there.
    let trailing: String?
    /// A command line that works, if the synopsis does not say enough.
    let example: String?
    /// Executes the command.
    let run: @Sendable (Invocation, Registry) throws(UsageError) -> Exit

    init(
        _ name: String,
        _ summary: String,
        aliases: [Alias] = [],
        options: [CommandOption] = [],
        operands: [Operand] = [],
        trailing: String? = nil,
        example: String? = nil,
        run: @escaping @Sendable (Invocation, Registry) throws(UsageError) -> Exit
    ) {
        self.name = name
        self.summary = summary
        self.aliases = aliases
        self.options = options
        self.operands = operands
        self.trailing = trailing
        self.example = example
        self.run = run
    }

    /// A flag that stands for words of the command line.
    struct Alias: Equatable, Sendable {
        /// The spellings of the flag, with their dashes.
        let spellings: [String]
        /// The words that the flag stands for.
        let words: [String]
    }

    /// A positional argument.
    struct Operand: Equatable, Sendable {
        /// The name of the argument in `--help`, in capitals.
        let name: String
        /// Whether the argument may be left out; only the last ones may.
        var isOptional = false
        /// Whether the argument may be given several times; only the last one may.
        var repeats = false

        /// Whether the argument can be the path of a file.
        var takesFile: Bool { alternatives.contains("FILE") }

        /// The words that are valid as they stand: those in lower case.
        var choices: [String] {
            name == "COMMAND" ? Command.all.map(\.name) : alternatives.filter { $0 == $0.lowercased() }
        }

        private var alternatives: [String] { name.split(separator: "|").map(String.init) }
    }
}

extension Command {
    /// The command line that the command accepts, as `--help` shows it.
    var synopsis: String { words.joined(separator: " ") }

    /// The parts of that line, which no line break divides.
    var words: [String] {
        let isDefault = name == Self.defaultName
        return ["martlet", isDefault ? "[\(name)]" : name]
            + options.map { "[\($0.synopsis)]" + ($0.repeats ? "..." : "") }
            + operands.map { ($0.isOptional ? "[\($0.name)]" : $0.name) + ($0.repeats ? "..." : "") }
            + (trailing.map { ["--", $0] } ?? [])
    }
}
