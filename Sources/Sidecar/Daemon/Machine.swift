internal import Configuration
internal import Events
private import Glibc

/// What the machine and the service manager give.
enum Machine {
    /// How many workers run where the file does not say: one for each core, at most four.
    static var workers: Int {
        max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}
