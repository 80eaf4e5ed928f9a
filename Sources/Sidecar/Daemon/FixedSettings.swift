internal import Configuration

/// The settings that a daemon goes by from its start to its end: a reload leaves them as they are.
struct FixedSettings {
    /// How many workers there are; nil if there are none yet.
    var workers: Int?
    /// The admin sockets; nil if there are none yet.
    var admin: [AdminSettings]?
    var coreDumps: Bool
    var sandbox: SandboxSettings

    /// Those of a daemon as it runs.
    init(workers: Int?, admin: [AdminSettings]?, coreDumps: Bool, sandbox: SandboxSettings) {
        (self.workers, self.admin, self.coreDumps, self.sandbox) = (workers, admin, coreDumps, sandbox)
    }

    /// Those that a daemon which starts with these settings has on this machine.
    init(_ settings: Settings) {
        workers = settings.workers ?? Machine.workers
        admin = AdminSettings.effective(settings)
        coreDumps = settings.coreDumps
        sandbox = settings.sandbox
    }

    /// The keys of the settings that only a restart would change to these.
    func keys(changedBy new: FixedSettings) -> [String] {
        var keys: [String] = []
        if let workers, workers != new.workers { keys.append("workers") }
        if let admin, admin != new.admin { keys.append("admin") }
        if coreDumps != new.coreDumps { keys.append("core_dumps") }
        if sandbox != new.sandbox { keys.append("sandbox") }
        return keys
    }
}
