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
