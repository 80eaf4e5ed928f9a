internal import Configuration

/// A command line that the program does not understand.
struct UsageError: Error, Equatable {
    /// What is wrong, and what to write instead.
    let message: String
    /// The command whose help says more; nil for the help of all commands.
    var command: String?

    init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    /// An unknown word: proposes the known word that looks like it.
    init(_ problem: String, _ word: String, among known: [String], command: String? = nil) {
        // Any short option is like any other.
        let nearest = word.count > 2 ? Suggestion.nearest(to: word, among: known) : nil
        let question = nearest.map { "; did you mean \($0)?" } ?? ""
        self.init("\(problem) \(Diagnostic.quote(word))\(question)", command: command)
    }

    /// The error in two lines, the second of which says where to read more.
    var text: String {
        "martlet: \(message)\nSee martlet \(command.map { "\($0) " } ?? "")--help."
    }
}
