internal import Configuration
internal import Events
private import Glibc
internal import Time

/// `martlet wait`: waits until the daemon is ready.
struct WaitCommand {
    private let file: String?
    private let address: String?
    private let timeout: Duration?

    init(_ invocation: Invocation) throws(UsageError) {
        (file, address) = (invocation[.config], invocation[.admin])
        timeout = try invocation.time(.timeout, default: "30s")
    }

    func run() -> Exit {
        guard let targets = AdminCommand.targets(file: file, named: address) else {
            return address == nil ? .configuration : .usage
        }
        let end = timeout.map { Clock.system.now.adding(saturating: $0) } ?? .max
        while true {
            // A response in the last moment says why it is not ready, so there is time for it.
            let time = min(max(end - Clock.system.now, .second), AdminClient.usualTime)
            let result = AdminClient.ask("GET", "/readyz", firstOf: targets, within: time)
            if case .response(200, _) = result { break }
            if case .notTrusted = result {
                _ = AdminCommand.text(result, targets)
                return .failure
            }
            guard Clock.system.now < end else {
                guard case .response(_, let body) = result else {
                    _ = AdminCommand.text(result, targets)
                    return .failure
                }
                Terminal.complain("martlet: not ready in time: \(ShownText.escaped(body))")
                return .failure
            }
            usleep(50_000)
        }
        Terminal.print("ready")
        return .success
    }
}
