internal import Configuration

/// An option of a command, such as `-c FILE` or `--watch`.
///
/// Options of the same name are the same option, unless only one of them has a value. So a command can accept fewer values of
/// one (``accepting(_:)``).
struct CommandOption: Equatable, Sendable {
    /// The long name, without its dashes.
    let long: String
    /// The short name, if there is one.
    let short: Character?
    /// The name of the value in `--help`, in capitals; nil if the option takes no value.
    let value: String?
    /// The only values that are valid; empty if there are others, or if the option takes no value.
    private(set) var choices: [String]
    /// Whether the option may be given several times; of other options the last one counts.
    let repeats: Bool
    /// One or two sentences for `--help` and the reference page.
    let summary: String

    init(
        _ long: String,
        short: Character? = nil,
        value: String? = nil,
        choices: [String] = [],
        repeats: Bool = false,
        _ summary: String
    ) {
        self.long = long
        self.short = short
        self.value = value
        self.choices = choices
        self.repeats = repeats
        self.summary = summary
    }

    static func == (one: CommandOption, other: CommandOption) -> Bool {
        (one.long, one.value) == (other.long, other.value)
    }

    /// The option for a command that accepts only these values.
    func accepting(_ choices: [String]) -> CommandOption {
        var option = self
        option.choices = choices
        return option
    }

    /// Whether the value is the path of a file.
    var takesFile: Bool { value == "FILE" || value == "TAPE" }

    /// Every way to write the option's name, with the dashes.
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }

    /// The option in a synopsis: `-c FILE`.
    var synopsis: String { spellings[0] + (value.map { " \($0)" } ?? "") }

    /// The option in a list of options: `-c, --config FILE`.
    var title: String { spellings.joined(separator: ", ") + (value.map { " \($0)" } ?? "") }
}

extension CommandOption {
    static let config = CommandOption(
        "config",
        short: "c",
        value: "FILE",
        "Use this configuration file; - is standard input. The default is $MARTLET_CONFIG, or /etc/martlet/martlet.yaml if it exists."
    )
    static let admin = CommandOption(
        "admin",
        value: "ADDRESS",
        "Use this admin socket, such as unix:/run/martlet/admin.sock. The default is the socket that the file names."
    )
    static let watch = CommandOption("watch", "Load the file again whenever it changes.")
    static let readyTime = CommandOption(
        "wait",
        value: "TIME",
        "Start the program after this time even if the daemon is not ready yet, or at once: none. The default is 30s."
    )
    static let mustBeReady = CommandOption(
        "ready-or-fail",
        "Exit 1 without starting the program if the daemon is not ready in time."
    )
    static let ownOutput = CommandOption(
        "own-stdout",
        "Allow logs on standard output, which the program writes to as well."
    )
    static let untilStopped = CommandOption("wait", "Wait until the daemon has stopped.")
    static let ready = CommandOption("ready", "Exit 0 only if the daemon accepts calls and has its tokens.")
    static let header = CommandOption(
        "header",
        short: "H",
        value: "HEADER",
        repeats: true,
        "Add a header, written 'name: value'."
    )
    static let data = CommandOption(
        "data",
        short: "d",
        value: "MESSAGE",
        "Add a message, or the body in plain HTTP. For call, @FILE reads a file, and - reads standard input."
    )
    static let callProtocol = CommandOption(
        "protocol",
        value: "NAME",
        choices: CallCommand.Spoken.allCases.map(\.rawValue),
        "Call in this protocol: connect, grpc or grpc-web. The default is connect. The other two need types."
    )
    static let timeout = CommandOption(
        "timeout",
        value: "TIME",
        "Give up after this time. For call, the upstream is told so. The default is 10s for call, and 30s elsewhere."
    )
    static let onlyTests = CommandOption("run", value: "TEXT", "Run only the tests whose name contains this text.")
    static let fromTape = CommandOption(
        "from-tape",
        value: "TAPE",
        "Print tests that are made of a tape, which stands for the upstreams."
    )
    static let output = CommandOption(
        "output",
        short: "o",
        value: "FORM",
        choices: ["text", "json"] + ShellTool.allCases.map(\.rawValue),
        "Print text, or json: one line for each test or event. For tap, also curl, grpcurl or buf. The default is text."
    )
    static let junit = CommandOption("junit", value: "FILE", "Also write the results to this file, as JUnit's XML.")
    static let cover = CommandOption("cover", "Print the routes and interceptors that no test reached.")
    static let minCover = CommandOption(
        "cover-min",
        value: "PERCENT",
        "Fail if the tests reach fewer of the routes and interceptors."
    )
    static let number = CommandOption(
        "number",
        short: "n",
        value: "N",
        "Print at most this many calls. The default is 10 for calls, and no limit for tap."
    )
    static let service = CommandOption("service", value: "NAME", repeats: true, "Only calls of this service.")
    static let method = CommandOption("method", value: "NAME", repeats: true, "Only calls of this method.")
    static let path = CommandOption(
        "path",
        value: "PATH",
        repeats: true,
        "Only calls with this path, or with this prefix if it ends in /."
    )
    static let peer = CommandOption(
        "peer",
        value: "PEER",
        repeats: true,
        "Only calls of these processes, written uid=1000 or gid=100."
    )
    static let headers = CommandOption("headers", "Show the headers and trailers too.")
    static let messages = CommandOption("messages", "Show the messages too.")
    static let rate = CommandOption(
        "rate",
        value: "RATE",
        "Show at most so many events, such as 10/s. The default is 100/s."
    )
    static let view = CommandOption(
        "view",
        value: "SIDE",
        choices: ["caller", "upstream"],
        "Repeat the request as the caller sent it, or as it went upstream: caller or upstream. The default is caller."
    )
    static let tool = CommandOption(
        "with",
        value: "PROGRAM",
        choices: ShellTool.allCases.map(\.rawValue),
        "Print a line for this program: curl, grpcurl or buf. The default is curl."
    )
    static let onlyCode = CommandOption(
        "code",
        value: "CODE",
        choices: ConditionSettings.codeNames,
        repeats: true,
        "Only calls with this status code."
    )
    static let active = CommandOption("active", "Print the calls under way, the oldest first, with their progress.")
    static let listen = CommandOption(
        "listen",
        value: "ADDRESS",
        "Serve browsers at this address, which must be on loopback. The default is 127.0.0.1:0: any port that is free."
    )
    static let call = CommandOption(
        "call",
        value: "PATTERN",
        "Only calls with this name. In it, * stands for any text."
    )
    static let from = CommandOption("from", value: "N", "Only this call and later ones.")
    static let to = CommandOption("to", value: "N", "Only this call and earlier ones.")
    static let libraries = CommandOption("libraries", "Print the versions of the libraries too.")
    static let help = CommandOption("help", short: "h", "Print help for the command, or for all commands.")
}
