internal import Bytes
internal import Configuration
internal import Interceptors
internal import Proxy
internal import Time

/// The commands that speak to the admin socket of a running Martlet.
enum AdminCommand: Equatable {
    case reload, status
    /// Has the program started anew, which is to be ready after this time at the latest.
    case upgrade(within: Duration)
    /// Asks whether it lives, or whether it is ready for calls.
    case healthcheck(ready: Bool)

    /// Asks, prints what the daemon responds, and leaves with 0 if it is a success.
    func run(file: String?, address: String?) -> Exit {
        guard let targets = Self.targets(file: file, named: address) else {
            return address == nil ? .configuration : .usage
        }
        let (method, path) =
            switch self {
            case .reload: ("POST", "/reload")
            case .status: ("GET", "/status")
            case .upgrade(let limit): ("POST", "/upgrade?timeout=\(limit.text)")
            case .healthcheck(let ready): ("GET", ready ? "/readyz" : "/healthz")
            }
        var time = AdminClient.usualTime
        if case .upgrade(let limit) = self { time += limit }
        let result = AdminClient.ask(method, path, firstOf: targets, within: time)
        guard let text = Self.text(result, targets) else { return .failure }
        Terminal.print(ShownText.escaped(text))
        return .success
    }

    /// What the daemon responds to a request; none if that is an error, which is told.
    static func text(_ method: String, _ path: String, _ targets: [SocketAddress]) -> String? {
        text(AdminClient.ask(method, path, firstOf: targets), targets)
    }

    /// The body of a successful response; none if there is an error, which is told.
    static func text(_ result: AdminClient.Result, _ targets: [SocketAddress]) -> String? {
        switch result {
        case .nobodyListens:
            let addresses = targets.map(\.description).joined(separator: " or ")
            Terminal.complain("martlet: no daemon is listening at \(addresses); is Martlet running?")
            return nil
        case .notAllowed(let address):
            Terminal.complain(
                "martlet: permission denied at \(address); run the command as root or as the user of the service"
            )
            return nil
        case .notTrusted(let address, let listener):
            let owner = listener.directoryOwner == nil ? "" : ", nor does it own the directory"
            let problem = "user \(listener.user) listens at \(address), which is neither root nor this user\(owner)"
            Terminal.complain("martlet: \(problem); if that is the daemon, run the command as user \(listener.user)")
            return nil
        case .noResponse(let address):
            Terminal.complain("martlet: no response from \(address); the daemon is stuck or has stopped")
            return nil
        case .response(let status, let body):
            let text = body.hasSuffix("\n") ? String(body.dropLast()) : body
            guard (200..<300).contains(status) else {
                Terminal.complain(ShownText.escaped(text))
                return nil
            }
            return text
        }
    }

    /// Where to ask, in this order; none if that is not known, which is told.
    static func targets(file: String?, named: String?) -> [SocketAddress]? {
        let targets = (named.map { [$0] } ?? addressTexts(in: .find(file, .builtIn))).compactMap { text in
            let address = Self.address(text)
            if address == nil {
                Terminal.complain(
                    "martlet: \(Diagnostic.quote(text)) is not a valid admin address; write 127.0.0.1:9901, unix:/path or unix:@name"
                )
            }
            return address
        }
        return targets.isEmpty ? nil : targets
    }

    private static func addressTexts(in file: ConfigurationFile) -> [String] {
        do throws(ConfigurationFile.Rejection) {
            let admins = try file.admins()
            guard admins.isEmpty else { return admins.map { "\($0.address)" } }
            Terminal.complain(
                "martlet: \(file.name) has no admin socket; add admin: to it, or use --admin ADDRESS"
            )
        } catch {
            error.lines.forEach(Terminal.complain)
        }
        return []
    }

    private static func address(_ text: String) -> SocketAddress? {
        switch ListenAddress(text) {
        case .unix(let path): SocketAddress.unix(path: path)
        case .tcp(let host, let port):
            SocketAddress(literal: host == "localhost" ? "127.0.0.1" : host, port: port)
        case .abstract(let name): SocketAddress.abstract(name: name)
        case .systemd, nil: nil
        }
    }
}
