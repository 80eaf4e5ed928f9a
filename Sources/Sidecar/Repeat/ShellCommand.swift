internal import Bytes
internal import RPC

/// A command for `sh`: words, comments before it, and what is piped into it.
struct ShellCommand {
    private var lines: [[UInt8]] = []
    private var comments: [String] = []
    private var variables: [String] = []
    private var input: [UInt8]?
    private var requirement = ""
    private var filter = ""
    private var allowance = ""

    /// Begins with the name of a program and its first words.
    init(_ start: String) { lines = [Array(start.utf8)] }

    /// Adds a line of words.
    mutating func add(_ option: String, _ word: ShellWord? = nil) {
        variables += word?.variables.filter { !variables.contains($0) } ?? []
        lines.append(Array(option.utf8) + (word.map { (option.isEmpty ? [] : [UInt8(ascii: " ")]) + $0.text } ?? []))
    }

    /// Adds an option with a text.
    mutating func add(_ option: String, _ text: String) { add(option, ShellWord(text)) }

    /// Says something before the command.
    mutating func note(_ text: String) { comments.append(text) }

    /// Has another command succeed first.
    mutating func require(_ command: String) { requirement = "\(command) && " }

    /// Pipes bytes into the command.
    mutating func pipe(_ bytes: [UInt8]) { input = bytes }

    /// Pipes what the command prints into another one.
    mutating func pipe(into command: String) { filter = " | \(command)" }

    /// Lets the command succeed if it exits with this code.
    mutating func allow(exitCode: Int) { allowance = " || test $? -eq \(exitCode)" }

    /// The text, without a line feed at its end.
    var text: String {
        var notes = comments
        if !variables.isEmpty { notes.insert("export \(variables.map { "\($0)=…" }.joined(separator: " "))", at: 0) }
        var bytes = Array(notes.map { "# \($0)\n" }.joined().utf8)
        if let input {
            let queue = ByteQueue()
            queue.append(base64: input.span, padded: true)
            bytes += Array("printf %s ".utf8) + ShellWord(queue.readable.array).text + Array(" | base64 -d | ".utf8)
        }
        bytes += Array(requirement.utf8)
        bytes += Array(lines.joined(separator: Array(" \\\n  ".utf8))) + Array((filter + allowance).utf8)
        return String(decoding: bytes, as: UTF8.self)
    }
}
