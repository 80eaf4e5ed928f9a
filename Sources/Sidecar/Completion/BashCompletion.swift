/// The completion script for bash, which needs no package `bash-completion`.
enum BashCompletion {
    static var script: String {
        """
        # Completion of martlet in bash, as `martlet completion bash` prints it.
        _martlet() {
            local word=$2 option=$3 command='' operands=0 index candidates=''
            COMPREPLY=()
            for ((index = 1; index < COMP_CWORD; index++)); do
                case ${COMP_WORDS[index]} in
                    # Bash divides an argument at these.
                    = | :) ((index++)) ;;
                    \(patterns(Completion.valueSpellings)))
                        [[ ${COMP_WORDS[index + 1]} == = ]] || ((index++)) ;;
        \(Completion.aliases.map { "            \(patterns($0))) command=\($1) ;;" }.joined(separator: "\n"))
                    -*) ;;
                    *) if [[ $command ]]; then ((operands++)); else command=${COMP_WORDS[index]}; fi ;;
                esac
            done
            [[ $word != = ]] || word=''
            [[ $option != = ]] || option=${COMP_WORDS[COMP_CWORD - 2]}

            case ${command:-run}:$option in
        \(lines(values))
                *)
                    case $word:$command:$operands in
        \(lines(options))
        \(lines(operands))
                    esac
                    ;;
            esac
            if [[ $candidates == FILES ]]; then
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            else
                mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")
            fi
        }
        complete -F _martlet martlet
        """
    }

    private typealias Case = (pattern: String, candidates: Completion.Candidates)

    /// What the value of each option can be.
    private static var values: [Case] {
        Command.all.flatMap { command in
            command.options.filter { $0.value != nil }.map { option in
                (patterns(option.spellings.map { "\(command.name):\($0)" }), Completion.Candidates(option))
            }
        }
    }

    private static var options: [Case] {
        let first = (Command.all.first { $0.name == Command.defaultName }?.acceptedOptions ?? []).flatMap(\.spellings)
        return [("-*::*", .words(first + Completion.aliases.flatMap(\.0)))]
            + Command.all.map { ("-*:\($0.name):*", .words($0.acceptedOptions.flatMap(\.spellings))) }
    }

    private static var operands: [Case] {
        [("*::*", .words(Command.all.map(\.name)))]
            + Command.all.flatMap { command in
                command.operands.enumerated().map { index, operand in
                    ("*:\(command.name):\(operand.repeats ? "*" : "\(index)")", Completion.Candidates(operand))
                }
            }
    }

    private static func patterns(_ spellings: [String]) -> String { spellings.joined(separator: " | ") }

    private static func lines(_ cases: [Case]) -> String {
        cases.map { pattern, candidates in
            switch candidates {
            case .text: "        \(pattern)) ;;"
            case .files: "        \(pattern)) candidates=FILES ;;"
            case .words(let words): "        \(pattern)) candidates='\(words.joined(separator: " "))' ;;"
            }
        }
        .joined(separator: "\n")
    }
}
