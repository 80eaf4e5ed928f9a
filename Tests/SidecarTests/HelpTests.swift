import Testing

@testable import Sidecar

/// What `--help` says.
struct HelpTests {
    @Test func `help names every command, option, signal and exit code`() {
        let help = Help.all
        let commands = Command.all.flatMap { [$0.synopsis, "  \($0.name) "] }
        let options = Command.allOptions.map { "  \($0.title) " }
        let aliases = Command.all.flatMap(\.aliases).flatMap(\.spellings)
        let signals = HandledSignal.all.flatMap(\.names)
        for text in commands + options + aliases + signals + Exit.meanings.map({ "  \($0.exit.code) " }) {
            #expect(help.contains(text), "\(text)")
        }
    }

    @Test func `help says which commands an option is for`() throws {
        let lines = Help.all.split(separator: "\n")
        let watch = try #require(lines.first { $0.hasPrefix("      --watch") || $0.hasPrefix("  --watch") })
        #expect(watch.hasSuffix("(run)"))
    }

    @Test func `help tells two options of one name apart`() {
        let lines = Help.all.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("--wait") }
        #expect(lines.count == 2 && lines[0].hasPrefix("--wait TIME ") && lines[1].hasSuffix("(stop)"))
    }

    @Test(arguments: Command.all.map(\.name))
    func `help for a command fits a terminal`(name: String) throws {
        let lines = try Help.text(for: name).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.contains { $0.hasPrefix("usage: martlet") && $0.contains(name) })
        #expect(lines.allSatisfy { $0.count <= 100 && $0.last != " " })
    }

    @Test func `help for one command`() throws {
        #expect(
            try Help.text(for: "healthcheck") == """
                Exit 0 if the running daemon is alive.

                usage: martlet healthcheck [-c FILE] [--admin ADDRESS] [--ready]

                options:
                  -c, --config FILE  Use this configuration file; - is standard input. The default is
                                     $MARTLET_CONFIG, or /etc/martlet/martlet.yaml if it exists.
                  --admin ADDRESS    Use this admin socket, such as unix:/run/martlet/admin.sock. The default is the
                                     socket that the file names.
                  --ready            Exit 0 only if the daemon accepts calls and has its tokens.
                  -h, --help         Print help for the command, or for all commands.

                martlet --help lists all commands, signals and exit codes.
                """
        )
    }

    @Test func `the synopsis of a command shows every argument`() {
        let operands = [Command.Operand(name: "NAME"), Command.Operand(name: "MORE", isOptional: true)]
        let command = Command("exec", "Run.", options: [.header], operands: operands, trailing: "CMD [ARG]...") {
            _,
            _ in
            .success
        }
        #expect(command.synopsis == "martlet exec [-H HEADER]... NAME [MORE] -- CMD [ARG]...")
    }
}
