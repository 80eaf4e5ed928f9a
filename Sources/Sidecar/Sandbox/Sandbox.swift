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
    let parts: Parts
    /// Why the kernel does not do all of it.
    let reasons: [String]
    /// What makes it worth less: lines for people.
    private(set) var warnings: [String] = []
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
        guard settings.sandbox.isOn else {
            return Sandbox(settings: settings.sandbox, rules: nil, parts: Parts(), reasons: [], machine: machine)
        }
        let admin = AdminSettings.effective(settings).map(\.address)
        let rules = SandboxRules(settings, needs: loaded.needs, admin: admin, file: file.path, on: machine)
        var parts = Parts()
        var reasons: [String] = []
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
            if parts.ports { try SystemCalls.filterFastOpen() }
        } catch {
            reasons.append("seccomp: \(error.text)")
        }
        var sandbox = Sandbox(
            settings: settings.sandbox,
            rules: rules,
            parts: parts,
            reasons: reasons,
            machine: machine
        )
        sandbox.canBeUpgraded = canBeUpgraded
        if let path = file.path, rules.allowsChanging(path, on: machine) {
            // A new process would go by what an attacker has written.
            sandbox.warnings = [
                "the sandbox allows writing beside the configuration \(path); keep logs and sockets in another directory"
            ]
        }
        return sandbox
    }

    /// What is in force, for logs and the status page.
    var fields: [(StaticString, String)] {
        func word(_ fact: Bool) -> String { fact ? "yes" : "no" }
        guard rules != nil else { return [("mode", "off")] }
        var fields: [(StaticString, String)] = []
        fields.append(("files", word(parts.files)))
        fields.append(("ports", word(parts.ports)))
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
            signals: !signalsOthers
        )
        for path in readable { landlock.allow(path, for: startsPrograms ? .start : .read) }
        for path in writable {
            landlock.allow(path, for: .write)
            if startsPrograms { landlock.allow(path, for: .start) }
        }
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
