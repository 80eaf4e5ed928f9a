/// The arguments of the command line, told apart: words, options with their values, and what follows `--`.
///
/// An option may stand in front of the command, so an option is looked up among those of all commands.
struct CommandLineWords {
    /// The command and its positional arguments.
    private(set) var words: [String] = []
    /// The options with their values; the value is empty for an option without one.
    private(set) var options: [(option: CommandOption, value: String)] = []
    /// The arguments after `--`.
    private(set) var trailing: [String] = []
    /// Whether there was a `--`.
    private(set) var hasTrailing = false
    /// Whether `--help` was given; the arguments behind it do not count.
    private(set) var asksForHelp = false

    /// Reads the arguments that follow the program's name.
    mutating func read(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while !asksForHelp, let argument = rest.popFirst() {
            if argument == "--" {
                (trailing, hasTrailing) = (Array(rest), true)
                return
            }
            if !argument.hasPrefix("-") || argument == "-" {
                words.append(argument)
            } else if let alias = Self.aliases.first(where: { $0.spellings.contains(argument) }) {
                // An alias stands for a command, so there may be none before it.
                guard words.isEmpty else {
                    throw UsageError("unknown option", argument, among: knownSpellings, command: command?.name)
                }
                rest = alias.words + rest
            } else {
                try readOption(argument, &rest)
            }
        }
    }

    private mutating func readOption(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let isLong = argument.hasPrefix("--")
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let spelling = isLong ? parts[0] : argument
        let attached = isLong && parts.count > 1 ? parts[1] : nil
        // Two commands may have options of one name.
        let known = (command?.options ?? []) + Command.allOptions
        guard let option = known.first(where: { $0.spellings.contains(spelling) }) else {
            if attached != nil, Self.aliases.contains(where: { $0.spellings.contains(spelling) }) {
                throw UsageError("\(spelling) takes no value", command: command?.name)
            }
            throw UsageError("unknown option", spelling, among: knownSpellings, command: command?.name)
        }
        guard let name = option.value else {
            guard attached == nil else { throw UsageError("\(spelling) takes no value", command: command?.name) }
            if option == .help { asksForHelp = true } else { options.append((option, "")) }
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw UsageError("\(spelling) needs a value: \(spelling) \(name)", command: command?.name)
        }
        options.append((option, value))
    }

    /// The command, if the arguments so far name one.
    private var command: Command? { words.first.flatMap { try? Command.named($0) } }

    /// What an unknown option may have been meant to be: an option of the command, if that is known.
    private var knownSpellings: [String] {
        guard let command else {
            return Command.allOptions.flatMap(\.spellings) + Self.aliases.flatMap(\.spellings)
        }
        return (command.options + [.help]).flatMap(\.spellings)
    }

    private static let aliases = Command.all.flatMap(\.aliases)
}
