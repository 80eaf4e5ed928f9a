internal import Configuration
internal import Events
internal import Proxy

/// `martlet run`: builds the daemon and runs it to its end.
enum Run {
    static func run(_ file: ConfigurationFile, watches: Bool, job: JobRun? = nil) -> Exit {
        var successions = Successions(file, job: job)
        do throws(ConfigurationFile.Rejection) {
            // The first process of a container loses a signal that nobody waits for.
            Signals.holdEnds()
            // Before anything is opened: a number that is not open, whatever the environment says, would be one of ours.
            let passed = Result { () throws(ListenError) in try SystemdSockets.receive() }
            // Before there is a secret in the memory.
            Crash.watch(program: "martlet \(Version.number)")
            // Before there are other threads.
            DescriptorLimit.raise()
            // What it asks for is about to be done anyway.
            Signals.ignoreHangUp()
            let loaded = try file.load(toServe: true)
            if successions.predecessor == nil { removeStaleSockets() }
            Crash.setCoreDumps(allowed: loaded.plan.settings.coreDumps)
            // Before there are other threads, which would not be in it. A program that runs was made before.
            let canBeUpgraded = if case .success = successions.launcher { true } else { false }
            let sandbox = Sandbox.enter(loaded, of: file, signalsOthers: job != nil, canBeUpgraded: canBeUpgraded)
            if let problem = sandbox.upgradeProblem { successions.endLauncher(problem) }
            let daemon = Daemon(
                file: file,
                logLevel: loaded.plan.settings.logLevel,
                passed: passed,
                sandbox: sandbox,
                successions: successions,
                job: job
            )
            return daemon.run(loaded, watches: watches)
        } catch {
            error.lines.forEach(Terminal.complain)
            successions.predecessor?.failed(error.lines)
            return .configuration
        }
    }

    /// Removes the sockets in the service's directory that an earlier process has left, before the sandbox is entered.
    private static func removeStaleSockets() {
        guard Environment.value("NOTIFY_SOCKET") != nil else { return }
        for directory in Environment.runtimeDirectories { ListenSocket.removeStale(in: directory) }
    }
}
