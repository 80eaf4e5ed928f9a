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
        let process = waits ? Self.process(targets) : nil
        guard let text = AdminCommand.text(AdminClient.ask("POST", "/drain", firstOf: targets), targets) else {
            return .failure
        }
        Terminal.print(text)
        guard waits else { return .success }
        // Another process may listen there by then, if a service manager starts one.
        while let now = Self.process(targets), process == nil || now == process { usleep(50_000) }
        Terminal.print("stopped")
        return .success
    }

    /// The process that listens, by its number as `/status` shows it; nil if none does.
    private static func process(_ targets: [SocketAddress]) -> Substring? {
        guard case .response(200, let status) = AdminClient.ask("GET", "/status", firstOf: targets),
            let number = status.firstRange(of: "PID ")
        else { return nil }
        return status[number.upperBound...].prefix { $0.isNumber }
    }
}
