private import CLinux

/// What becomes of the process when it crashes.
public enum Crash {
    /// Reports every crash from now on: a fatal signal writes the signal, the threads and the calls that they are in to standard
    /// error, and then ends the process as it would have without.
    ///
    /// Other processes of the same user can no longer read the memory of this one, and no core is dumped. Call it before there
    /// are other threads. It costs nothing until there is a crash.
    ///
    /// - Parameter program: the name and version for the report.
    public static func watch(program: String) {
        unsafe martlet_crash_watch(program)
    }

    /// Whether a crash dumps core.
    public static var dumpsCore: Bool { martlet_dumps_core() }

    /// Says whether a crash dumps core, as large as the process's limits allow.
    ///
    /// The core has registers, the stacks in use and the program's variables in it; it has no heap, no environment and no buffer.
    /// Call it after `watch`, and before there are other threads. Core dumps that were not allowed stay so.
    public static func setCoreDumps(allowed: Bool) {
        martlet_set_core_dumps(allowed)
    }
}
