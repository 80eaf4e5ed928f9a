internal import Bytes
private import Glibc

/// `martlet stop`: has the daemon drain, and waits for its end if it is told to.
struct StopCommand {
    private let file: String?
    private let address: String?
    private let waits: Bool

    init(_ invocation: Invocation) {
        (file, address) = (invocation[.config], invocation[.admin])
        waits = invocation.has(.untilStopped)
    }

    func run() -> Exit {
        guard let targets = AdminCommand.targets(file: file, named: address) else {
            return address == nil ? .configuration : .usage
        }
        let process = waits ? Self.startTime(AdminClient.ask("GET", "/metrics", firstOf: targets)) : nil
        guard let text = AdminCommand.text(AdminClient.ask("POST", "/drain", firstOf: targets), targets) else {
            return .failure
        }
        Terminal.print(ShownText.escaped(text))
        guard waits else { return .success }
        while isThere(process, targets) { usleep(50_000) }
        Terminal.print("stopped")
        return .success
    }

    /// Whether a process listens that may be this one.
    ///
    /// A service manager may have started another by then.
    private func isThere(_ process: Substring?, _ targets: [SocketAddress]) -> Bool {
        let result = AdminClient.ask("GET", "/metrics", firstOf: targets)
        switch result {
        case .nobodyListens, .notTrusted: return false
        case .notAllowed, .noResponse, .response: break
        }
        let now = Self.startTime(result)
        return process == nil || now == nil || now == process
    }

    /// When the process was started that has responded; nil if it does not say.
    ///
    /// Its number would not do: in a container it is always 1.
    private static func startTime(_ result: AdminClient.Result) -> Substring? {
        guard case .response(200, let metrics) = result else { return nil }
        return metrics.split(separator: "\n").first { $0.hasPrefix("process_start_time_seconds ") }
    }
}
