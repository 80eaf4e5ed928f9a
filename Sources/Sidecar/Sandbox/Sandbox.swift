internal import Configuration
internal import Events
internal import Proxy

/// What the process has given up since it started, so that nobody who takes it over has it.
struct Sandbox {
    /// What is in force, as far as the kernel knows it.
    struct Parts: Equatable {
        /// Files outside of the rules cannot be used.
        var files = false
        /// Other ports than those of the rules cannot be used.
        var ports = false
        /// Unix sockets cannot be made after startup.
        var unixSockets = false
        /// Other system calls than those of a service cannot be made.
        var syscalls = false
        /// Programs that are started cannot get more privileges.
        var privileges = false
    }

    /// What the file said at startup.
    let settings: SandboxSettings
    /// The rules; none if there is no sandbox.
    let rules: SandboxRules?
    /// What is in force.
    private(set) var parts = Parts()
    /// Why the kernel does not do all of it.
    private(set) var reasons: [String] = []
    /// What makes it worth less: lines for people.
    private(set) var warnings: [String] = []
    /// Why the program must not be started again outside of the sandbox; `nil` if it may be.
    private(set) var upgradeProblem: String?
    /// The addresses of open listeners; `nil` during the start, when others can be opened.
    var listeners: Set<ListenAddress>?
    /// Whether `martlet upgrade` can start the program anew, in another sandbox.
    private var canBeUpgraded = false
    private let machine: SandboxMachine

    /// Puts the process into the sandbox that its file asks for, for good.
    ///
    /// Call it when the file was read and before there are other threads. Programs that are started later are in the sandbox
    /// as well, those that were started before are not.
    ///
    /// - Parameters:
    ///   - loaded: what was read.
    ///   - file: the file.
    ///   - signalsOthers: whether the process has to signal processes that it started before.
    ///   - canBeUpgraded: whether `martlet upgrade` can start the program anew.
    /// - Returns: what of it is in force.
    static func enter(
        _ loaded: ConfigurationFile.Loaded,
        of file: ConfigurationFile,
        signalsOthers: Bool = false,
        canBeUpgraded: Bool = false
    ) -> Sandbox {
        let settings = loaded.plan.settings
        let machine = SandboxMachine.own
        guard settings.sandbox.isOn else { return Sandbox(settings.sandbox, rules: nil, on: machine) }
        let admin = AdminSettings.effective(settings).map(\.address)
        let rules = SandboxRules(settings, needs: loaded.needs, admin: admin, file: file.path, on: machine)
        // Before the sandbox hides them.
        let managers = machine.managers
        var sandbox = Sandbox(settings.sandbox, rules: rules, on: machine)
        sandbox.enforce(rules, signalsOthers: signalsOthers)
        sandbox.canBeUpgraded = canBeUpgraded
        sandbox.checkTrustedFiles(rules, of: file)
        sandbox.checkManagers(managers)
        return sandbox
    }

    private init(_ settings: SandboxSettings, rules: SandboxRules?, on machine: SandboxMachine) {
        (self.settings, self.rules, self.machine) = (settings, rules, machine)
    }

    private mutating func enforce(_ rules: SandboxRules, signalsOthers: Bool) {
        do throws(SystemError) {
            try SystemCalls.renouncePrivileges()
            parts.privileges = true
        } catch {
            reasons.append("no_new_privs: \(error.text)")
        }
        do throws(SystemError) {
            parts.ports = try rules.enforce(signalsOthers: signalsOthers)
            parts.files = true
        } catch {
            reasons.append("Landlock: \(error.text)")
        }
        if rules.ports != nil, parts.files, !parts.ports { reasons.append("Landlock: ports need Linux 6.7") }
        do throws(SystemError) {
            try SystemCalls.filter(startsPrograms: rules.startsPrograms)
            parts.syscalls = true
            parts.unixSockets = !rules.connectsToSockets
            if parts.ports { try SystemCalls.filterFastOpen() }
        } catch {
            reasons.append("seccomp: \(error.text)")
        }
    }

    /// Checks that nothing inside can replace what a process outside of the sandbox executes or reads.
    private mutating func checkTrustedFiles(_ rules: SandboxRules, of file: ConfigurationFile) {
        guard parts.files else { return }
        var files: [(name: String, path: String)] = []
        if let program = Launcher.programPath { files.append(("the program", program)) }
        if !file.isStandardInput { files.append(("the configuration", file.path ?? ConfigurationFile.usualPath)) }
        guard let exposure = rules.exposure(of: files, on: machine) else { return }
        let problem = "the sandbox allows writing in \(exposure.directory), where \(exposure.file) is"
        upgradeProblem = "\(problem); move it to another directory, and restart instead"
        if canBeUpgraded || !exposure.isScratch {
            let advice =
                exposure.isScratch ? "move it to another directory" : "keep logs and tapes in another directory"
            warnings.append("\(problem): a restart could use what an attacker wrote, and upgrades are off; \(advice)")
        }
        canBeUpgraded = false
    }

    /// Warns of sockets that lead out of the sandbox and stay in reach.
    private mutating func checkManagers(_ managers: [String]) {
        guard !parts.unixSockets, !managers.isEmpty else { return }
        let problem = "the sandbox does not forbid Unix sockets, and programs can be started outside of it by"
        warnings.append("\(problem) \(managers.joined(separator: ", ")); run Martlet as a user of its own")
    }

    /// Forbids further Unix sockets, if the rules do; call it once those of the start are open.
    ///
    /// - Returns: why the kernel does not do it, or `nil`.
    mutating func closeUnixSockets() -> SystemError? {
        guard parts.unixSockets else { return nil }
        do throws(SystemError) {
            try SystemCalls.filterUnixSockets()
            return nil
        } catch {
            parts.unixSockets = false
            reasons.append("seccomp: \(error.text)")
            return error
        }
    }

    /// What is in force, for logs and the status page.
    var fields: [(StaticString, String)] {
        func word(_ fact: Bool) -> String { fact ? "yes" : "no" }
        guard rules != nil else { return [("mode", "off")] }
        var fields: [(StaticString, String)] = []
        fields.append(("files", word(parts.files)))
        fields.append(("ports", word(parts.ports)))
        fields.append(("unix_sockets", word(parts.unixSockets)))
        fields.append(("syscalls", word(parts.syscalls)))
        fields.append(("new_privileges", word(!parts.privileges)))
        if !reasons.isEmpty { fields.append(("reason", reasons.joined(separator: "; "))) }
        return fields
    }

    /// Reports what a file that is loaded later needs and the sandbox does not allow.
    func check(_ settings: Settings, into diagnostics: Diagnostics) {
        guard let rules else { return }
        for need in diagnostics.needs {
            guard let problem = rules.problem(with: need.kind, parts, on: machine) else { continue }
            diagnostics.report("\(problem); \(advice)", at: need.mark)
        }
        for listener in settings.listeners {
            var parts = parts
            if listeners?.contains(listener.address) ?? true { parts.unixSockets = false }
            guard let problem = rules.problem(listeningOn: listener.address, parts, on: machine) else { continue }
            diagnostics.report("\(problem); \(advice)", at: listener.mark)
        }
    }

    private var advice: String {
        "restart Martlet, \(canBeUpgraded ? "run \"martlet upgrade\", " : "")or restart it with sandbox: off"
    }
}

extension SandboxRules {
    /// Puts the calling thread under the rules.
    ///
    /// - Returns: whether they hold for ports, too.
    fileprivate func enforce(signalsOthers: Bool) throws(SystemError) -> Bool {
        let landlock = try Landlock(
            listening: ports?.listening != nil,
            connecting: ports != nil,
            signals: !signalsOthers,
            abstractSockets: !connectsToAbstractSockets
        )
        for path in readable { landlock.allow(path, for: startsPrograms ? .start : .read) }
        for path in writable {
            landlock.allow(path, for: .write)
            if startsPrograms { landlock.allow(path, for: .start) }
        }
        for path in sockets { landlock.allow(path, for: .socket) }
        for path in devices { landlock.allow(path, for: .device) }
        let limitsPorts = ports != nil && landlock.limitsPorts
        if limitsPorts, let ports {
            for port in ports.listening ?? [] { landlock.allow(listeningOn: port) }
            for port in ports.connecting { landlock.allow(connectingTo: port) }
        }
        try landlock.enter()
        return limitsPorts
    }
}
