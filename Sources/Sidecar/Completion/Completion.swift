/// `martlet completion`: scripts that complete the program's command line in a shell, made from the table of commands.
enum Completion {
    /// The script for a shell, which is `bash`, `zsh` or `fish`.
    static func script(for shell: String) throws(UsageError) -> String {
        switch shell {
        case "bash": return BashCompletion.script
        case "zsh": return ZshCompletion.script
        case "fish": return FishCompletion.script
        default: throw UsageError("unknown shell", shell, among: ["bash", "zsh", "fish"], command: "completion")
        }
    }

    /// What can stand in one place of a command line.
    enum Candidates: Equatable {
        case text, files
        case words([String])

        init(_ option: CommandOption) {
            self = option.takesFile ? .files : option.choices.isEmpty ? .text : .words(option.choices)
        }

        init(_ operand: Command.Operand) {
            self = operand.takesFile ? .files : operand.choices.isEmpty ? .text : .words(operand.choices)
        }
    }

    /// The spellings of every option whose value is the next argument.
    static let valueSpellings = Command.allOptions.filter { $0.value != nil }.flatMap(\.spellings)

    /// The spellings of the flags that stand for a command, each with the command.
    static let aliases = Command.all.flatMap { command in command.aliases.map { ($0.spellings, command.name) } }

    /// The first sentence of a summary without its full stop, as completions show it beside a word.
    static func title(_ summary: String) -> String {
        let end = summary.firstRange(of: ". ")?.lowerBound ?? summary.endIndex
        let sentence = summary[..<end]
        return String(sentence.hasSuffix(".") ? sentence.dropLast() : sentence)
    }

    /// A text as one word of a shell.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

extension Command {
    /// Every option that the command accepts.
    var acceptedOptions: [CommandOption] { options + [.help] }
}
