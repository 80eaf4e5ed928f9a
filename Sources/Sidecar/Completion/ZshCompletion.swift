/// The completion script for zsh: a file `_martlet` in a directory of `fpath`.
enum ZshCompletion {
    static var script: String {
        """
        #compdef martlet
        # Completion of martlet in zsh, as `martlet completion zsh` prints it.
        _martlet() {
            local curcontext=$curcontext state line
            typeset -A opt_args
            local -a commands=(
        \(Command.all.map { "        \(Completion.quoted("\($0.name):\(Completion.title($0.summary))"))" }.joined(separator: "\n"))
            )
            _arguments -s -S -C \\
        \(specifications(first))
                '1: :{ _describe -t commands command commands }' \\
                '*::: :->arguments' && return
            [[ $state == arguments ]] || return
            words=($line[1] "${words[@]}")
            ((CURRENT += 1))
            case $line[1] in
        \(Command.all.map(cases).joined(separator: "\n"))
            esac
        }
        _martlet "$@"
        """
    }

    private static var first: [String] {
        let command = Command.all.first { $0.name == Command.defaultName }
        return (command?.acceptedOptions ?? []).flatMap(specification)
            + Command.all.flatMap(\.aliases).flatMap { alias in
                alias.spellings.map { "\($0)[martlet \(alias.words.joined(separator: " "))]" }
            }
    }

    private static func cases(_ command: Command) -> String {
        let operands = command.operands.enumerated().map { index, operand in
            "\(operand.repeats ? "*" : "\(index + 1)"):\(escaped(operand.name)):\(action(Completion.Candidates(operand)))"
        }
        return """
                    \(command.name)) _arguments -s -S \\
            \(specifications(command.acceptedOptions.flatMap(specification) + operands))
                        ;;
            """
    }

    private static func specifications(_ texts: [String]) -> String {
        texts.map { "        \(Completion.quoted($0)) \\" }.joined(separator: "\n")
    }

    private static func specification(_ option: CommandOption) -> [String] {
        option.spellings.map { spelling in
            let start =
                option.repeats ? "*" : option.spellings.count > 1 ? "(\(option.spellings.joined(separator: " ")))" : ""
            let isLong = spelling.hasPrefix("--")
            let title = "[\(escaped(Completion.title(option.summary)))]"
            guard let value = option.value else { return "\(start)\(spelling)\(title)" }
            let action = action(Completion.Candidates(option))
            return "\(start)\(spelling)\(isLong ? "=" : "")\(title):\(escaped(value)):\(action)"
        }
    }

    private static func action(_ candidates: Completion.Candidates) -> String {
        switch candidates {
        case .text: " "
        case .files: "_files"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// The text with a backslash before what has a meaning in a specification.
    private static func escaped(_ text: String) -> String {
        text.flatMap { "[]:\\".contains($0) ? "\\\($0)" : "\($0)" }.map(String.init).joined()
    }
}
