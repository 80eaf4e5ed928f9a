internal import Configuration

/// What a file that is loaded later cannot have.
extension SandboxRules {
    /// Whether a directory that may be written, other than those for everybody's files, has the file in it.
    func allowsChanging(_ path: String, on machine: SandboxMachine) -> Bool {
        machine.isWithin(writable, path)
            && !machine.isWithin(Self.scratch.compactMap { machine.resolve($0)?.path }, path)
    }

    /// Why what a later file needs is not possible; none if it is.
    func problem(with need: SystemNeed.Kind, _ parts: Sandbox.Parts, on machine: SandboxMachine) -> String? {
        switch need {
        case .reads(let path):
            guard parts.files, !allowsReading(path, on: machine) else { return nil }
            return "the sandbox does not let Martlet read \(path)"
        case .writes(let path):
            guard parts.files, !allowsWriting(path, on: machine) else { return nil }
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
        case .connectsAnywhere: return nil
        }
    }

    /// Why a later file's socket cannot be opened; none if it can.
    func problem(listeningOn address: ListenAddress, _ parts: Sandbox.Parts, on machine: SandboxMachine) -> String? {
        switch address {
        case .tcp(_, let port):
            guard parts.ports, let listening = ports?.listening, !listening.contains(port) else { return nil }
            return "the sandbox does not let Martlet listen on port \(port), which the file at startup did not name"
        case .unix(let path): return problem(with: .writes(path), parts, on: machine)
        case .abstract, .systemd: return nil
        }
    }

    private func allowsReading(_ path: String, on machine: SandboxMachine) -> Bool {
        machine.isWithin(readable + writable, path)
    }

    private func allowsWriting(_ path: String, on machine: SandboxMachine) -> Bool {
        machine.isWithin(writable, path)
    }
}
