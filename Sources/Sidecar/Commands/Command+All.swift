internal import Configuration
internal import Documents
internal import Proxy
internal import Time

extension Command {
    /// The command that runs if the command line names none.
    static let defaultName = "run"

    /// Every command, in the order of `--help`.
    static let all: [Command] = [
        Command(
            "run",
            "Serve calls. Without a configuration file, serve a demo on 127.0.0.1:8080.",
            options: [.config, .watch]
        ) { invocation, registry in
            Run.run(.find(invocation[.config], registry), watches: invocation.has(.watch))
        },
        Command(
            "exec",
            """
            Run a program, and serve its calls until it ends. Exit with its code: 128 + n if signal n ended it, 126 if it \
            is not executable, 127 if there is none. All signals except SIGHUP go to the program.
            """,
            options: [.config, .readyTime, .mustBeReady, .ownOutput],
            trailing: "COMMAND [ARGUMENT...]",
            example: "martlet exec -c martlet.yaml -- ./import-orders --all"
        ) { invocation, registry throws(UsageError) in
            try ExecCommand(invocation, registry).run()
        },
        Command(
            "check",
            "Check the configuration and print all its errors.",
            aliases: [Alias(spellings: ["-t", "--test"], words: ["check"])],
            options: [.config]
        ) { invocation, registry in
            Check.run(file: invocation[.config], with: registry)
        },
        Command(
            "diff",
            "Print what a reload from one configuration to another would change: listeners, connections, tokens, counts.",
            operands: [Operand(name: "OLD"), Operand(name: "NEW")],
            example: "martlet diff /etc/martlet/martlet.yaml new.yaml"
        ) { invocation, registry in
            DiffCommand.run(from: invocation.operands[0], to: invocation.operands[1], with: registry)
        },
        Command(
            "explain",
            "Print what the configuration does with a request, without sending anything.",
            options: [.config, .header, .data],
            operands: [Operand(name: "METHOD"), Operand(name: "PATH")],
            example: "martlet explain POST /shop.v1.OrderService/Get -H 'x-tenant: a' -d '{}'"
        ) { invocation, registry throws(UsageError) in
            Explain.run(try Explain.request(invocation), file: invocation[.config], with: registry)
        },
        Command(
            "test",
            "Run files of tests on their configurations, without any network.",
            options: [.onlyTests, .output.accepting(["text", "json"]), .junit, .cover, .minCover, .fromTape, .config],
            operands: [Operand(name: "FILE", isOptional: true, repeats: true)],
            example: "martlet test --junit results.xml tests/*.yaml"
        ) { invocation, registry throws(UsageError) in
            try TestCommand(invocation, registry).run()
        },
        Command(
            "types",
            "List the services that the configuration knows. Or convert a message from standard input.",
            options: [.config],
            operands: [Operand(name: "decode|encode", isOptional: true), Operand(name: "TYPE", isOptional: true)],
            example: "martlet types decode shop.v1.Order < order.bin"
        ) { invocation, registry throws(UsageError) in
            try TypesCommand(invocation, registry).run()
        },
        Command(
            "call",
            "Make a call through the running daemon, and print the response as JSON.",
            options: [.config, .data, .header, .callProtocol, .timeout],
            operands: [Operand(name: "METHOD"), Operand(name: "NAME=VALUE", isOptional: true, repeats: true)],
            example: "martlet call shop.v1.OrderService/Get id=a1 page:=2"
        ) { invocation, registry throws(UsageError) in
            try CallCommand(invocation, registry).run()
        },
        Command(
            "verify",
            "Compare the calls that the mocks of the running daemon have served with a file of expectations.",
            options: [.config, .admin],
            operands: [Operand(name: "FILE")],
            example: "martlet verify orders.verify.yaml"
        ) { invocation, _ in
            VerifyCommand(invocation).run()
        },
        Command(
            "mocks",
            "Print a mock of a service with a rule for each of its methods, to be edited.",
            options: [.config],
            operands: [Operand(name: "init"), Operand(name: "SERVICE")],
            example: "martlet mocks init shop.v1.OrderService >> martlet.yaml"
        ) { invocation, registry throws(UsageError) in
            try MocksCommand(invocation, registry).run()
        },
        Command(
            "tape",
            "List the recorded calls of a tape, show some of them, cut some out, or merge tapes by start time.",
            options: [.call, .from, .to],
            operands: [
                Operand(name: "ls|show|cut|merge"), Operand(name: "FILE"),
                Operand(name: "FILE|NUMBER", isOptional: true, repeats: true),
            ],
            example: "martlet tape cut orders.yaml --call '*/Get' --from 10 --to 20 > get.yaml"
        ) { invocation, _ throws(UsageError) in
            try TapeCommand(invocation).run()
        },
        Command(
            "reload",
            "Make the running daemon load its file again. Print the errors if the daemon rejects the file.",
            options: [.config, .admin]
        ) { invocation, _ in
            AdminCommand.reload.run(file: invocation[.config], address: invocation[.admin])
        },
        Command(
            "upgrade",
            "Start the program anew, as after an update. It takes over without a lost call, or all stays as it is.",
            options: [.config, .admin, .timeout]
        ) { invocation, _ throws(UsageError) in
            let limit = try invocation.time(.timeout, default: "30s", canBeNone: false)
            return AdminCommand.upgrade(within: limit ?? .zero).run(
                file: invocation[.config],
                address: invocation[.admin]
            )
        },
        Command("status", "Print the state of the running daemon.", options: [.config, .admin]) { invocation, _ in
            AdminCommand.status.run(file: invocation[.config], address: invocation[.admin])
        },
        Command(
            "stop",
            "Have the running daemon stop: it closes its listeners and lets calls end.",
            options: [.config, .admin, .untilStopped]
        ) { invocation, _ in
            StopCommand(invocation).run()
        },
        Command(
            "wait",
            "Wait until the running daemon is ready: it accepts calls and has its tokens.",
            options: [.config, .admin, .timeout],
            example: "martlet wait --timeout 1m"
        ) { invocation, _ throws(UsageError) in
            try WaitCommand(invocation).run()
        },
        Command(
            "calls",
            "Print the calls that ended last, and where their time went. Or those under way.",
            options: [.config, .admin, .number, .onlyCode, .active],
            example: "martlet calls -n 3 --code unavailable"
        ) { invocation, _ throws(UsageError) in
            try CallsCommand(invocation).run()
        },
        Command(
            "tap",
            "Print calls as they happen, with their messages if you ask for them.",
            options: [
                .config, .admin, .service, .method, .path, .onlyCode, .peer, .headers, .messages, .rate, .number,
                .output,
            ],
            example: "martlet tap --service shop.v1.OrderService --messages"
        ) { invocation, _ throws(UsageError) in
            try TapCommand(invocation).run()
        },
        Command(
            "curl",
            "Print a line for the shell that repeats a call. Calls that failed are kept, and those that a tap showed.",
            options: [.config, .admin, .view, .tool],
            operands: [Operand(name: "CALL")],
            example: "martlet curl d737a1 --view upstream"
        ) { invocation, _ in
            CurlCommand(invocation).run()
        },
        Command(
            "dashboard",
            """
            Serve the dashboard of the running daemon to browsers on this machine, until Ctrl-C. Print an address that \
            works once, and another one when it was used.
            """,
            options: [.listen, .config, .admin],
            example: "martlet dashboard --admin unix:/run/martlet/admin.sock"
        ) { invocation, _ throws(UsageError) in
            try DashboardCommand(invocation).run()
        },
        Command(
            "healthcheck",
            "Exit 0 if the running daemon is alive.",
            options: [.config, .admin, .ready]
        ) { invocation, _ in
            AdminCommand.healthcheck(ready: invocation.has(.ready))
                .run(file: invocation[.config], address: invocation[.admin])
        },
        Command(
            "completion",
            "Print a script that completes commands, options and values in a shell.",
            operands: [Operand(name: "bash|zsh|fish")],
            example: "martlet completion bash > ~/.local/share/bash-completion/completions/martlet"
        ) { invocation, _ throws(UsageError) in
            Terminal.print(try Completion.script(for: invocation.operands[0]))
            return .success
        },
        Command("schema", "Print a JSON Schema of the configuration, for editors.") { _, registry in
            Terminal.print(String(decoding: JSONSchema.document(for: registry).prettyJSON, as: UTF8.self))
            return .success
        },
        Command("reference", "Print the reference page in Markdown.") { _, registry in
            Terminal.print(ReferencePage(for: registry).text)
            return .success
        },
        Command(
            "version",
            "Print the version.",
            aliases: [
                Alias(spellings: ["-v", "--version"], words: ["version"]),
                Alias(spellings: ["-V"], words: ["version", "--libraries"]),
            ],
            options: [.libraries]
        ) { invocation, _ in
            Terminal.print(invocation.has(.libraries) ? Version.withLibraries : "martlet \(Version.number)")
            return .success
        },
        Command(
            "help",
            "Print help for a command, or for all commands.",
            operands: [Operand(name: "COMMAND", isOptional: true)]
        ) { invocation, _ throws(UsageError) in
            Terminal.print(try Help.text(for: invocation.operands.first))
            return .success
        },
    ]

    /// The command of this name; an error if there is none.
    static func named(_ name: String) throws(UsageError) -> Command {
        if let command = all.first(where: { $0.name == name }) { return command }
        throw UsageError("unknown command", name, among: all.map(\.name))
    }

    /// The commands that have an option.
    static func having(_ option: CommandOption) -> [Command] {
        option == .help ? all : all.filter { $0.options.contains(option) }
    }

    /// Every option of every command, each once.
    static let allOptions =
        all.reduce(into: [CommandOption]()) { options, command in
            options += command.options.filter { !options.contains($0) }
        } + [.help]
}
