/// The completion script for fish.
enum FishCompletion {
    static var script: String {
        """
        # Completion of martlet in fish, as `martlet completion fish` prints it.
        # Whether the command line has this command; without an argument, whether it has none yet.
        function __martlet_command
            set -l words (commandline -opc)
            set -e words[1]
            set -l command ''
            set -l is_value no
            for word in $words
                if test $is_value = yes
                    set is_value no
                    continue
                end
                switch $word
                    case \(Completion.valueSpellings.joined(separator: " "))
                        set is_value yes
        \(aliases)
                    case '-*'
                    case '*'
                        set command $word
                        break
                end
            end
            test "$command" = "$argv[1]"
        end
        complete -c martlet -f
        \(lines.joined(separator: "\n"))
        """
    }

    private static var aliases: String {
        Completion.aliases.map { spellings, command in
            "            case \(spellings.joined(separator: " "))\n                set command \(command)\n                break"
        }
        .joined(separator: "\n")
    }

    private static var lines: [String] {
        var lines = Command.all.map {
            "complete -c martlet -n __martlet_command -a \($0.name) -d \(Completion.quoted(Completion.title($0.summary)))"
        }
        lines += Command.all.flatMap(\.aliases).map { alias in
            line(
                nil,
                names(alias.spellings) + " -d " + Completion.quoted("martlet \(alias.words.joined(separator: " "))")
            )
        }
        for command in Command.all {
            let isDefault = command.name == Command.defaultName
            for option in command.acceptedOptions {
                let text =
                    "\(names(option.spellings))\(value(option)) -d \(Completion.quoted(Completion.title(option.summary)))"
                if isDefault { lines.append(line(nil, text)) }
                lines.append(line(command.name, text))
            }
            for operand in command.operands {
                switch Completion.Candidates(operand) {
                case .text: break
                case .files: lines.append(line(command.name, "-F"))
                case .words(let words): lines.append(line(command.name, "-a '\(words.joined(separator: " "))'"))
                }
            }
        }
        return lines
    }

    private static func line(_ command: String?, _ text: String) -> String {
        "complete -c martlet -n \(command.map { "'__martlet_command \($0)'" } ?? "__martlet_command") \(text)"
    }

    private static func names(_ spellings: [String]) -> String {
        spellings.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }.joined(separator: " ")
    }

    private static func value(_ option: CommandOption) -> String {
        guard option.value != nil else { return "" }
        switch Completion.Candidates(option) {
        case .text: return " -x"
        case .files: return " -r -F"
        case .words(let words): return " -x -a '\(words.joined(separator: " "))'"
        }
    }
}
