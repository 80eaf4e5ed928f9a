internal import Documents
internal import Proxy

/// What the command line asks for.
enum Invocation: Equatable {
    /// Serves; `watches`: loads the file again whenever it changes.
    case run(file: String?, watches: Bool)
    case check(file: String?)
    case admin(AdminCommand, file: String?, address: String?)
    case explain(ExplainedRequest, file: String?)
    case schema
    case reference
    case version
    case versionOfAll
    case help
    case misused(String)

    static let usage = """
        Martlet, a sidecar for RPC: passes calls through interceptors and forwards them.

        usage: martlet [run] [-c FILE]      run; without a file, the built-in demo on 127.0.0.1:8080
                                            (--watch: load the file again whenever it changes)
               martlet check [-c FILE]      check the configuration and say all that is wrong with it (also -t)
               martlet explain [-c FILE] METHOD PATH [-H 'name: value']… [-d MESSAGE]
                                            say what the configuration does with a request, and send nothing
               martlet reload               let the running Martlet load its file again
               martlet status               say what the running Martlet does
               martlet healthcheck          leave with 0 if the running Martlet lives (--ready: serves, and has its tokens)
               martlet schema               print a JSON Schema of the file, for editors
               martlet reference            print the reference page of the file, in Markdown
               martlet version              say the version (also -v; -V with the libraries)

        options:
          -c, --config FILE   the configuration; else $MARTLET_CONFIG, else /etc/martlet/martlet.yaml if it is there
              --admin ADDR    the admin socket, for reload, status and healthcheck; else the one the file names
          -h, --help          this text

        signals: SIGHUP loads the file again, SIGTERM and SIGINT drain and stop (twice: at once), SIGUSR1 reopens logs.
        exit:    0 stopped in order, 1 failed or draining took too long, 2 wrong command line, 78 bad configuration.
        """

    /// Reads the arguments that follow the program's name.
    static func parse(_ arguments: [String]) -> Invocation {
        var words: [String] = []
        var file: String?
        var address: String?
        var asksIfReady = false
        var watches = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "explain" where words.isEmpty: return Explain.parse(Array(rest), file: file)
            case "-c", "--config":
                guard let value = rest.popFirst() else { return .misused("\(argument) needs a file") }
                file = value
            case "--admin":
                guard let value = rest.popFirst() else { return .misused("--admin needs an address") }
                address = value
            case "-t", "--test": words.append("check")
            case "--ready": asksIfReady = true
            case "--watch": watches = true
            case "-v", "--version": return .version
            case "-V": return .versionOfAll
            case "-h", "--help": return .help
            default:
                if argument.hasPrefix("--config=") {
                    file = String(argument.dropFirst(9))
                } else if argument.hasPrefix("--admin=") {
                    address = String(argument.dropFirst(8))
                } else if argument.hasPrefix("-") {
                    return .misused("unknown option \(argument)")
                } else {
                    words.append(argument)
                }
            }
        }
        guard words.count <= 1 else { return .misused("one command at a time, not \(words.joined(separator: " "))") }
        let word = words.first ?? "run"
        guard !asksIfReady || word == "healthcheck" else { return .misused("--ready is for healthcheck") }
        guard !watches || word == "run" else { return .misused("--watch is for run") }
        if word == "run" { return .run(file: file, watches: watches) }
        if let command = AdminCommand(word, ready: asksIfReady) {
            return .admin(command, file: file, address: address)
        }
        return command(word, file)
    }

    private static func command(_ word: String, _ file: String?) -> Invocation {
        switch word {
        case "check": .check(file: file)
        case "schema": .schema
        case "reference": .reference
        case "version": .version
        case "help": .help
        default: .misused("unknown command \(word)")
        }
    }

    /// Does what was asked for.
    func run(with registry: Registry) -> Exit {
        switch self {
        case .run(let file, let watches): return Run.run(file: file, watches: watches, with: registry)
        case .check(let file): return Check.run(file: file, with: registry)
        case .explain(let request, let file): return Explain.run(request, file: file, with: registry)
        case .admin(let command, let file, let address): return command.run(file: file, address: address)
        case .schema: Terminal.print(String(decoding: JSONSchema.document(for: registry).prettyJSON, as: UTF8.self))
        case .reference: Terminal.print(ReferencePage(for: registry).text)
        case .version: Terminal.print("martlet \(Version.number)")
        case .versionOfAll: Terminal.print(Version.withLibraries)
        case .help: Terminal.print(Self.usage)
        case .misused(let problem):
            Terminal.complain("martlet: \(problem); see martlet --help")
            return .usage
        }
        return .success
    }
}
