internal import Configuration
internal import Time

/// A command line that was understood: a command, and the options and arguments for it.
struct Invocation: Sendable {
    let command: Command
    /// The positional arguments.
    let operands: [String]
    /// The arguments after `--`.
    let trailing: [String]
    /// The options in the order of the command line; the value is empty for an option without one.
    private let options: [(option: CommandOption, value: String)]

    /// The value of an option: the last one, if it was given several times.
    subscript(_ option: CommandOption) -> String? { values(of: option).last }

    /// Every value of an option, in the order of the command line.
    func values(of option: CommandOption) -> [String] {
        options.filter { $0.option == option }.map(\.value)
    }

    /// Whether an option was given.
    func has(_ option: CommandOption) -> Bool { !values(of: option).isEmpty }

    /// The time that an option says, or `standard`; nil for `none`, if that is possible.
    func time(
        _ option: CommandOption,
        default standard: String,
        canBeNone: Bool = true
    ) throws(UsageError) -> Duration? {
        let text = self[option] ?? standard
        if canBeNone, text == "none" { return nil }
        if let time = Duration(text: text), time > .zero || text == standard { return time }
        let advice = canBeNone ? "write a time such as \(standard), or none" : "write a time such as \(standard)"
        throw error("--\(option.long) cannot be \(Diagnostic.quote(text)); \(advice)")
    }

    /// Reads the arguments that follow the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        var words = CommandLineWords()
        try words.read(arguments)
        let name = words.words.first ?? Command.defaultName
        guard !words.asksForHelp else {
            command = try .named("help")
            operands = Array(words.words.prefix(1))
            (trailing, options) = ([], [])
            return
        }
        command = try .named(name)
        operands = Array(words.words.dropFirst())
        trailing = words.trailing
        options = words.options
        try validate(hasTrailing: words.hasTrailing)
    }

    private func validate(hasTrailing: Bool) throws(UsageError) {
        for (option, value) in options {
            guard let own = command.options.first(where: { $0 == option }) else {
                let owners = Command.having(option).map(\.name).joined(separator: ", ")
                throw error("--\(option.long) is not an option of \(command.name); it is an option of \(owners)")
            }
            if !own.choices.isEmpty, !own.choices.contains(value) { throw invalid(value, of: own) }
        }
        if operands.count > command.operands.count, command.operands.last?.repeats != true {
            let extra = operands[command.operands.count]
            guard let other = try? Command.named(extra), other.name != command.name else {
                throw error("unexpected argument \(Diagnostic.quote(extra)) for \(command.name)")
            }
            throw error("\(command.name) and \(other.name) are both commands; write one of them")
        }
        let missing = command.operands.dropFirst(operands.count).filter { !$0.isOptional }.map(\.name)
        guard missing.isEmpty else {
            let example = command.example.map { ", for example \($0)" } ?? ""
            throw error("\(command.name) needs \(missing.joined(separator: " and "))\(example)")
        }
        if hasTrailing, command.trailing == nil { throw error("\(command.name) takes no arguments after --") }
        if let expected = command.trailing, trailing.isEmpty { throw error("\(command.name) needs -- \(expected)") }
    }

    private func invalid(_ value: String, of option: CommandOption) -> UsageError {
        // Nobody reads a list of twenty.
        guard option.choices.count <= 6, let last = option.choices.last else {
            return UsageError("unknown \(option.long)", value, among: option.choices, command: command.name)
        }
        let choices = "\(option.choices.dropLast().joined(separator: ", ")) or \(last)"
        return error("--\(option.long) cannot be \(Diagnostic.quote(value)); write \(choices)")
    }

    /// An error in the use of this command.
    func error(_ message: String) -> UsageError { UsageError(message, command: command.name) }
}
