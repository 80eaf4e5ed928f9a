internal import Configuration
internal import Events
private import Glibc

/// What the machine and the service manager give.
enum Machine {
    /// How many workers run where the file does not say: one for each core, at most four.
    static var workers: Int {
        max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// Lets no crash write the memory, which has credentials in it, to a disk.
    static func forbidCoreDumps() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}

extension AdminSettings {
    /// The admin socket: the one of the file, or under systemd one in the runtime directory; else none.
    static func effective(_ settings: Settings) -> AdminSettings? {
        settings.admin ?? underServiceManager
    }

    /// The admin socket where a service manager gives the daemon a directory for such things.
    static var underServiceManager: AdminSettings? {
        guard let directory = Environment.value("RUNTIME_DIRECTORY") else { return nil }
        return AdminSettings(address: .unix(path: "\(directory)/admin.sock"))
    }
}
