internal import Configuration

/// What a file that is loaded later cannot have.
extension SandboxRules {
    /// Why what a later file needs is not possible; none if it is.
    func problem(with need: SystemNeed.Kind, _ parts: Sandbox.Parts, on machine: SandboxMachine) -> String? {
        switch need {
        case .reads(let path):
            guard parts.files, !allowsReading(path, on: machine) else { return nil }
            return "the sandbox does not let Martlet read \(path)"
        case .writes(let path):
            guard parts.files, !machine.isWithin(writable, path) else { return nil }
            return "the sandbox does not let Martlet write to \(path)"
        case .starts(let path):
            guard startsPrograms || !(parts.files || parts.syscalls) else {
                return "the sandbox does not let Martlet start \(path), because the file at startup named no program"
            }
            guard parts.files, !allowsReading(path, on: machine) else { return nil }
            return "the sandbox does not let Martlet start \(path)"
        case .connects(let port):
            guard parts.ports, let ports, !ports.connecting.contains(port) else { return nil }
            return "the sandbox does not let Martlet connect to port \(port), which the file at startup did not name"
        case .connectsToSocket(let path):
            guard parts.unixSockets else { return nil }
            let cause = "the file at startup named no upstream on a Unix socket"
            return "the sandbox does not let Martlet connect to \(path), because \(cause)"
        case .connectsAnywhere: return nil
        }
    }

    /// Why a later file's socket cannot be opened; none if it can.
    func problem(listeningOn address: ListenAddress, _ parts: Sandbox.Parts, on machine: SandboxMachine) -> String? {
        switch address {
        case .tcp(_, let port):
            guard parts.ports, let listening = ports?.listening, !listening.contains(port) else { return nil }
            return "the sandbox does not let Martlet listen on port \(port), which the file at startup did not name"
        case .unix(let path):
            guard parts.files, !machine.isWithin(sockets + writable, path) else {
                return parts.unixSockets ? "the sandbox does not let Martlet listen on \(address) after startup" : nil
            }
            return "the sandbox does not let Martlet write to \(path)"
        case .abstract:
            return parts.unixSockets ? "the sandbox does not let Martlet listen on \(address) after startup" : nil
        case .systemd: return nil
        }
    }

    private func allowsReading(_ path: String, on machine: SandboxMachine) -> Bool {
        machine.isWithin(readable + writable, path)
    }
}
